cavalry_test(cassandra_driver_test KIND unit
  SOURCES token_ring_test.cc statement_test.cc statement_check_test.cc topology_test.cc
          router_test.cc driver_test.cc cluster_test.cc stub_node.cc
  DEPS cavalry_cassandra cavalry_fakes)
# Apart from the others, for it counts what the whole program allocates.
cavalry_test(cassandra_driver_allocation_test KIND unit
  SOURCES driver_allocation_test.cc DEPS cavalry_cassandra)
