//! The users of a server, as in iperf3's file: `user,` and the SHA-256 of `{user}password` in hexadecimal.

use sha2::{Digest, Sha256};
use thiserror::Error;

use super::token::Claim;

/// Users and the digests of their passwords.
#[derive(Default)]
pub struct Users(Vec<(String, [u8; 32])>);

/// A line that names no user.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("line {line}: expected a user name, a comma, and the SHA-256 of {{user}}password as 64 hexadecimal digits")]
pub struct UsersError {
    /// From 1.
    pub line: usize,
}

impl Users {
    /// Reads a file of users. Empty lines and those that begin with `#` are left out, and what follows a second comma.
    ///
    /// # Errors
    /// [`UsersError`] at the first line that is something else: iperf3 passes over it, and the user wonders.
    pub fn parse(text: &str) -> Result<Self, UsersError> {
        let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'));
        lines
            .map(|(index, line)| parse_line(line).ok_or(UsersError { line: index + 1 }))
            .collect::<Result<_, _>>()
            .map(Self)
    }

    /// Whether user and password are among them. All users are gone through, so that the time tells nothing.
    #[must_use]
    pub fn has(&self, claim: &Claim) -> bool {
        let digest = digest(&claim.user, &claim.password);
        let same = self.0.iter().filter(|(user, expected)| {
            let differences = expected.iter().zip(&digest).fold(0, |bits, (left, right)| bits | (left ^ right));
            differences == 0 && *user == claim.user
        });
        same.count() > 0
    }
}

impl std::fmt::Debug for Users {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Users(of {})", self.0.len())
    }
}

fn parse_line(line: &str) -> Option<(String, [u8; 32])> {
    let mut cells = line.split(',');
    let user = cells.next()?.trim();
    let mut digest = [0; 32];
    hex::decode_to_slice(cells.next()?.trim(), &mut digest).ok()?;
    (!user.is_empty()).then(|| (user.to_owned(), digest))
}

fn digest(user: &str, password: &str) -> [u8; 32] {
    Sha256::digest(format!("{{{user}}}{password}")).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(user: &str, password: &str) -> Claim {
        Claim { user: user.into(), password: password.into(), made_at_s: 0 }
    }

    /// From `echo -n "{mario}rossi" | sha256sum`, as iperf3's manual has it.
    const FILE: &str =
        "# Username, sha256sum\r\n\r\nmario,bf7a49a846d44b454a5d11e7acfaf13d138bbe0b7483aa3e050879700572709b\r\n";

    #[test]
    fn users_are_known_by_their_passwords() {
        let users = Users::parse(FILE).unwrap();
        assert!(users.has(&claim("mario", "rossi")));
        for (user, password) in [("mario", "Rossi"), ("luigi", "rossi"), ("", ""), ("mario", ""), ("#", "rossi")] {
            assert!(!users.has(&claim(user, password)), "{user} {password}");
        }
        assert!(!Users::default().has(&claim("mario", "rossi")));
    }

    #[test]
    fn a_line_that_names_no_user_is_named() {
        for text in ["mario\n", "mario,\n", "mario,12\n", ",bf7a\n", "mario;bf7a\n"] {
            assert_eq!(Users::parse(&format!("#\n{text}")).unwrap_err(), UsersError { line: 2 }, "{text}");
        }
        assert!(UsersError { line: 2 }.to_string().starts_with("line 2: expected a user name, a comma"));
    }
}
