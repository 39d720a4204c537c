package rpc

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"strings"
)

// A credential is a login with a salted password hash, as -rpcauth has it.
type credential struct {
	user, salt string
	hash       string // hex of HMAC-SHA256 with the salt as key
}

// newCredential salts a password, so that it is not kept in memory.
func newCredential(user, password string) credential {
	salt := rand.Text()
	return credential{user, salt, hashPassword(salt, password)}
}

// parseCredential reads user:salt$hash.
func parseCredential(entry string) (credential, bool) {
	fields := strings.Split(entry, ":")
	if len(fields) != 2 {
		return credential{}, false
	}
	parts := strings.Split(fields[1], "$")
	if len(parts) != 2 {
		return credential{}, false
	}
	return credential{fields[0], parts[0], parts[1]}, true
}

func hashPassword(salt, password string) string {
	mac := hmac.New(sha256.New, []byte(salt))
	mac.Write([]byte(password))
	return hex.EncodeToString(mac.Sum(nil))
}

// matches compares in a time that does not depend on how much is right.
func (c credential) matches(user, password string) bool {
	sameUser := subtle.ConstantTimeCompare([]byte(c.user), []byte(user))
	sameHash := subtle.ConstantTimeCompare([]byte(c.hash), []byte(hashPassword(c.salt, password)))
	return sameUser&sameHash == 1
}

// login returns the user that the value of an Authorization header proves.
func login(credentials []credential, authorization string) (user string, ok bool) {
	encoded, isBasic := strings.CutPrefix(authorization, "Basic ")
	if !isBasic {
		return "", false
	}
	text, err := base64.StdEncoding.Strict().DecodeString(strings.TrimSpace(encoded))
	if err != nil {
		return "", false
	}
	user, password, hasColon := strings.Cut(string(text), ":")
	if !hasColon {
		return "", false
	}
	for _, c := range credentials {
		if c.matches(user, password) {
			ok = true
		}
	}
	return user, ok
}
