//! Who may talk to whom where TLS 1.3 protects a trial's flows: each end has a key that follows from the trial's secrets, and both pin the other's certificate.
//!
//! The controller draws two secrets for each trial and tells them to both engines, over channels of their own. The openings
//! of sockets, which travel in clear, show only digests of them. Each end works out both certificates; no name and no authority is trusted, and no certificate outlives its trial.

use std::sync::Arc;

use rcgen::{CertificateParams, KeyPair, PKCS_ED25519};
use rustls::{
    CipherSuite, ClientConfig, DigitallySignedStruct, DistinguishedName, Error, ServerConfig, SignatureScheme,
    client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
    crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature},
    pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, ServerName, UnixTime},
    server::danger::{ClientCertVerified, ClientCertVerifier},
    version::TLS13,
};
use sha2::{Digest, Sha256};
use wire::Token;

/// What the two ends speak (RFC 7301).
const PROTOCOL: &[u8] = b"flowsweep";
/// Nobody looks it up.
pub const NAME: &str = "flowsweep.invalid";
/// Of an Ed25519 key in PKCS #8 (RFC 8410, section 7): what comes before its 32 bytes.
const PKCS8_BEGIN: [u8; 16] =
    [0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20];

/// A certificate and its key.
struct Identity {
    certificate: CertificateDer<'static>,
    key: PrivateKeyDer<'static>,
}

/// What stands for a secret where anybody may read it.
pub fn opening_token(secret: Token) -> Token {
    let mut digest = Sha256::new_with_prefix(b"opening");
    digest.update(secret.0);
    let mut shown = [0; 16];
    shown.iter_mut().zip(digest.finalize()).for_each(|(shown, byte)| *shown = byte);
    Token(shown)
}

/// The secrets of a trial, of which nothing is ever sent.
#[derive(Clone, Copy)]
pub struct Secrets {
    /// What the connecting side shows.
    pub token: Token,
    /// What the listening side answers.
    pub answer: Token,
}

impl Secrets {
    fn identity(&self, whose: &[u8]) -> Result<Identity, Error> {
        let mut digest = Sha256::new_with_prefix(whose);
        digest.update(self.token.0);
        digest.update(self.answer.0);
        let key = [&PKCS8_BEGIN[..], &digest.finalize()].concat();
        let key = PrivatePkcs8KeyDer::from(key);
        let pair = KeyPair::from_pkcs8_der_and_sign_algo(&key, &PKCS_ED25519).map_err(|error| other(&error))?;
        let parameters = CertificateParams::new([NAME.to_owned()]).map_err(|error| other(&error))?;
        // Ed25519 draws nothing, and a serial number follows from the key: both ends make the same bytes.
        let certificate = parameters.self_signed(&pair).map_err(|error| other(&error))?;
        Ok(Identity { certificate: certificate.der().clone(), key: key.into() })
    }

    /// Of the end that connects.
    ///
    /// # Errors
    /// What the library says.
    pub fn client(&self) -> Result<ClientConfig, Error> {
        self.client_by(provider())
    }

    /// The same by other cryptography.
    ///
    /// # Errors
    /// What the library says.
    pub fn client_by(&self, provider: CryptoProvider) -> Result<ClientConfig, Error> {
        let (own, other) = (self.identity(b"connects")?, self.identity(b"listens")?);
        let pinned = Arc::new(Pinned::new(other, provider));
        let mut config = ClientConfig::builder_with_provider(pinned.provider.clone())
            .with_protocol_versions(&[&TLS13])?
            .dangerous()
            .with_custom_certificate_verifier(pinned)
            .with_client_auth_cert(vec![own.certificate], own.key)?;
        config.alpn_protocols = vec![PROTOCOL.to_vec()];
        Ok(config)
    }

    /// Of the end that listens.
    ///
    /// # Errors
    /// What the library says.
    pub fn server(&self) -> Result<ServerConfig, Error> {
        let (own, other) = (self.identity(b"listens")?, self.identity(b"connects")?);
        let pinned = Arc::new(Pinned::new(other, provider()));
        let mut config = ServerConfig::builder_with_provider(pinned.provider.clone())
            .with_protocol_versions(&[&TLS13])?
            .with_client_cert_verifier(pinned)
            .with_single_cert(vec![own.certificate], own.key)?;
        config.alpn_protocols = vec![PROTOCOL.to_vec()];
        Ok(config)
    }
}

/// TLS of a client that asks nobody who he is.
///
/// # Errors
/// What the library says.
pub fn client_for_anyone(protocol: &[u8]) -> Result<ClientConfig, Error> {
    let anyone = Arc::new(Anyone { provider: Arc::new(provider()) });
    let mut config = ClientConfig::builder_with_provider(anyone.provider.clone())
        .with_protocol_versions(&[&TLS13])?
        .dangerous()
        .with_custom_certificate_verifier(anyone)
        .with_no_client_auth();
    config.alpn_protocols = vec![protocol.to_vec()];
    Ok(config)
}

fn other(error: &rcgen::Error) -> Error {
    Error::General(error.to_string())
}

/// The library's, with the cipher first that costs least and is the usual one.
pub fn provider() -> CryptoProvider {
    let mut provider = ring::default_provider();
    provider.cipher_suites.sort_by_key(|suite| suite.suite() != CipherSuite::TLS13_AES_128_GCM_SHA256);
    provider
}

/// Of a verifier with a `provider`: whoever shows a certificate proves that he has its key.
macro_rules! proof_of_the_key {
    () => {
        fn verify_tls12_signature(
            &self,
            message: &[u8],
            certificate: &CertificateDer<'_>,
            signed: &DigitallySignedStruct,
        ) -> Result<HandshakeSignatureValid, Error> {
            verify_tls12_signature(message, certificate, signed, &self.provider.signature_verification_algorithms)
        }

        fn verify_tls13_signature(
            &self,
            message: &[u8],
            certificate: &CertificateDer<'_>,
            signed: &DigitallySignedStruct,
        ) -> Result<HandshakeSignatureValid, Error> {
            verify_tls13_signature(message, certificate, signed, &self.provider.signature_verification_algorithms)
        }

        fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
            self.provider.signature_verification_algorithms.supported_schemes()
        }
    };
}

/// Accepts one certificate.
#[derive(Debug)]
struct Pinned {
    certificate: CertificateDer<'static>,
    provider: Arc<CryptoProvider>,
}

impl Pinned {
    fn new(identity: Identity, provider: CryptoProvider) -> Self {
        Self { certificate: identity.certificate, provider: Arc::new(provider) }
    }

    fn check(&self, certificate: &CertificateDer<'_>) -> Result<(), Error> {
        let same = *certificate == self.certificate;
        if same { Ok(()) } else { Err(Error::General("the other end is not the engine of this trial".into())) }
    }
}

impl ServerCertVerifier for Pinned {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        self.check(certificate).map(|()| ServerCertVerified::assertion())
    }

    proof_of_the_key!();
}

impl ClientCertVerifier for Pinned {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        certificate: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        self.check(certificate).map(|()| ClientCertVerified::assertion())
    }

    proof_of_the_key!();
}

/// Accepts every certificate whose key its owner has.
#[derive(Debug)]
struct Anyone {
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Anyone {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    proof_of_the_key!();
}

#[cfg(test)]
mod tests {
    use rustls::{ClientConnection, ServerConnection};

    use super::*;

    /// What each end says of the other.
    fn handshake(connects: Secrets, listens: Secrets) -> (Result<(), String>, Result<(), String>) {
        let name = ServerName::try_from(NAME).unwrap();
        let mut client = ClientConnection::new(Arc::new(connects.client().unwrap()), name).unwrap();
        let mut server = ServerConnection::new(Arc::new(listens.server().unwrap())).unwrap();
        let (mut of_client, mut of_server) = (Ok(()), Ok(()));
        while client.wants_write() || server.wants_write() {
            let mut sent = Vec::new();
            client.write_tls(&mut sent).unwrap();
            server.read_tls(&mut &sent[..]).unwrap();
            of_server = of_server.and(server.process_new_packets().map(drop).map_err(|error| error.to_string()));
            sent.clear();
            server.write_tls(&mut sent).unwrap();
            client.read_tls(&mut &sent[..]).unwrap();
            of_client = of_client.and(client.process_new_packets().map(drop).map_err(|error| error.to_string()));
        }
        (of_client, of_server)
    }

    #[test]
    fn only_ends_of_one_trial_come_to_a_connection() {
        let own = Secrets { token: Token([1; 16]), answer: Token([2; 16]) };
        let other = Secrets { answer: Token([3; 16]), ..own };
        assert_eq!(handshake(own, own), (Ok(()), Ok(())));
        let (client, server) = handshake(own, other);
        assert!(client.unwrap_err().contains("not the engine of this trial"));
        assert!(server.is_err());
    }

    #[test]
    fn both_ends_make_the_same_certificates_and_other_trials_make_others() {
        let secrets = Secrets { token: Token([1; 16]), answer: Token([2; 16]) };
        let (one, again) = (secrets.identity(b"listens").unwrap(), secrets.identity(b"listens").unwrap());
        assert_eq!(one.certificate, again.certificate);
        let later = Secrets { token: Token([3; 16]), ..secrets };
        assert_ne!(one.certificate, later.identity(b"listens").unwrap().certificate);
        assert_ne!(one.certificate, secrets.identity(b"connects").unwrap().certificate);
    }
}
