cavalry_test(cassandra_driver_test KIND unit
  SOURCES token_ring_test.cc statement_test.cc statement_check_test.cc
  DEPS cavalry_cassandra_statements)
