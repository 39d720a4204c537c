package rpcauth

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"hash"
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
func Hash[P string | []byte](salt string, password P) string {
	mac := hmac.New(sha256.New, []byte(salt))
	secret := []byte(password)
	mac.Write(secret)
	hash := hex.EncodeToString(mac.Sum(nil))
	if _, isText := any(password).(string); isText {
		clear(secret)
	}
	wipe(mac)
	return hash
}

// wipe overwrites the last written bytes, which a hash may still hold in its block.
func wipe(mac hash.Hash) {
	var zeros [sha256.BlockSize - 1]byte // a whole block would not pass through there
	mac.Reset()
	mac.Write(zeros[:])
	mac.Write(zeros[:1])
}

// Matches compares user and password in a time that does not depend on how much is right. It leaves no copy of the
// password.
func (c Credential) Matches(user string, password []byte) bool {
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
	_, ok = Find(credentials, user, []byte(password))
	return user, ok
}

// Find returns the credential that a user and a password match. The time that it takes does not
// depend on which of them does.
func Find(credentials []Credential, user string, password []byte) (found Credential, ok bool) {
	for _, c := range credentials {
		if c.Matches(user, password) {
			found, ok = c, true
		}
	}
	return found, ok
}
