package access

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"strings"
)

// A Credential is a login with a salted password hash, as -rpcauth has it.
type Credential struct {
	user, salt string
	hash       string // hex of HMAC-SHA256 with the salt as key
}

// New salts a password, so that it is not kept in memory.
func New(user, password string) Credential {
	salt := rand.Text()
	return Credential{user, salt, Hash(salt, password)}
}

// Parse reads user:salt$hash.
func Parse(entry string) (Credential, bool) {
	fields := strings.Split(entry, ":")
	if len(fields) != 2 {
		return Credential{}, false
	}
	parts := strings.Split(fields[1], "$")
	if len(parts) != 2 {
		return Credential{}, false
	}
	return Credential{fields[0], parts[0], parts[1]}, true
}

// Hash returns the hash of a password in hexadecimal digits: HMAC-SHA256 with the salt as key.
func Hash(salt, password string) string {
	mac := hmac.New(sha256.New, []byte(salt))
	mac.Write([]byte(password))
	return hex.EncodeToString(mac.Sum(nil))
}

// Matches compares user and password in a time that does not depend on how much is right.
func (c Credential) Matches(user, password string) bool {
	sameUser := subtle.ConstantTimeCompare([]byte(c.user), []byte(user))
	sameHash := subtle.ConstantTimeCompare([]byte(c.hash), []byte(Hash(c.salt, password)))
	return sameUser&sameHash == 1
}

// User returns whose credential it is.
func (c Credential) User() string { return c.user }

// Decode reads the value of an Authorization header.
func Decode(authorization string) (user, password string, ok bool) {
	encoded, isBasic := strings.CutPrefix(authorization, "Basic ")
	if !isBasic {
		return "", "", false
	}
	text, err := base64.StdEncoding.Strict().DecodeString(strings.TrimSpace(encoded))
	if err != nil {
		return "", "", false
	}
	return strings.Cut(string(text), ":")
}

// Login returns the user that the value of an Authorization header proves.
func Login(credentials []Credential, authorization string) (user string, ok bool) {
	user, password, decoded := Decode(authorization)
	if !decoded {
		return "", false
	}
	_, ok = Find(credentials, user, password)
	return user, ok
}

// Find returns the credential that a user and a password match. The time that it takes does not
// depend on which of them does.
func Find(credentials []Credential, user, password string) (found Credential, ok bool) {
	for _, c := range credentials {
		if c.Matches(user, password) {
			found, ok = c, true
		}
	}
	return found, ok
}
