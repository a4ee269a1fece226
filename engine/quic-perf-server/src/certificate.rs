//! Who the server is: nobody that a client could know. Its key lives as long as the process.

use std::sync::Arc;

use quinn::crypto::rustls::QuicServerConfig;
use rustls::{
    ServerConfig,
    crypto::ring,
    pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer},
    version::TLS13,
};

/// What clients of the protocol offer (RFC 7301).
const ALPN: &[u8] = b"perf";
/// Nobody looks it up.
const NAME: &str = "flowsweep.invalid";

/// TLS of a server with a certificate that it has just made itself.
pub fn crypto() -> Result<Arc<QuicServerConfig>, String> {
    let own = rcgen::generate_simple_self_signed([NAME.to_owned()]).map_err(|error| error.to_string())?;
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(own.signing_key.serialize_der()));
    let mut tls = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_protocol_versions(&[&TLS13])
        .and_then(|builder| builder.with_no_client_auth().with_single_cert(vec![own.cert.der().clone()], key))
        .map_err(|error| error.to_string())?;
    tls.alpn_protocols = vec![ALPN.to_vec()];
    QuicServerConfig::try_from(tls).map(Arc::new).map_err(|error| error.to_string())
}
