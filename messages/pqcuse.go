package messages

import (
	"encoding/hex"
	"fmt"
)

// PQCSignatureLimit is how many signatures a key of P2MR may make.
const PQCSignatureLimit = 1 << 30

// PQCUse tells how many signatures a key of P2MR has made.
type PQCUse struct {
	PublicKey [32]byte
	Made      uint32
	Before    uint32 // how many it had made before a request
}

// How often a person is reminded of a key that comes near its last signature.
const (
	warningFrom, warningEvery   = PQCSignatureLimit / 4, 1 << 24
	criticalFrom, criticalEvery = PQCSignatureLimit - 1<<24, 1 << 20
)

// State is how near the key is to its last signature: normal, warning, critical or exhausted.
func (u PQCUse) State() string { return stateOf(u.Made) }

func stateOf(made uint32) string {
	switch {
	case made >= PQCSignatureLimit:
		return "exhausted"
	case made >= criticalFrom:
		return "critical"
	case made >= warningFrom:
		return "warning"
	default:
		return "normal"
	}
}

// Remaining is how many signatures the key may make yet.
func (u PQCUse) Remaining() uint32 { return PQCSignatureLimit - min(u.Made, PQCSignatureLimit) }

// Warning tells, in the reference's words, that the request has brought the key nearer to its last
// signature. It is empty where nothing is to be told.
func (u PQCUse) Warning() string {
	before, now := stateOf(u.Before), u.State()
	counts := fmt.Sprintf("(%d of %d signatures used, %d remaining)", u.Made, PQCSignatureLimit, u.Remaining())
	key := "PQC key " + hex.EncodeToString(u.PublicKey[:])
	switch {
	case before != now && now == "exhausted":
		return key + " reached the signature limit " + counts + ". Rotate to a new key/address."
	case before != now:
		return key + " entered " + now + " usage range " + counts
	case now == "warning" && u.passed(warningFrom, warningEvery),
		now == "critical" && u.passed(criticalFrom, criticalEvery):
		return key + " remains in " + now + " usage range " + counts
	default:
		return ""
	}
}

// passed reports whether the request has passed one of the counts that are every apart.
func (u PQCUse) passed(from, every uint32) bool { return (u.Made-from)/every > (u.Before-from)/every }
