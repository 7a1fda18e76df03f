# shellcheck shell=bash
# Certificates for private servers; sourced, never run.

# create_certificates FOLDER: an authority of our own and a certificate of 127.0.0.1 that it signed,
# when openssl (3 or later) is there: TLS is offered then, and clients that want none are served as
# ever.
create_certificates() {
  local folder=$1
  command -v openssl >/dev/null || return 0
  local common=(-days 3650 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes)
  openssl req -x509 "${common[@]}" -subj /CN=sandbox-authority \
    -keyout "$folder/ca-key.pem" -out "$folder/ca.pem" 2>/dev/null &&
    openssl req -x509 "${common[@]}" -subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1 \
      -addext basicConstraints=critical,CA:FALSE -CA "$folder/ca.pem" -CAkey "$folder/ca-key.pem" \
      -keyout "$folder/server-key.pem" -out "$folder/server-cert.pem" 2>/dev/null ||
    rm -f "$folder"/{ca,server}{-key,-cert,}.pem
}
