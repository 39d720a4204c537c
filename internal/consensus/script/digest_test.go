package script

import (
	"crypto/sha256"
	"math/rand/v2"
	"testing"
)

// Hashing resumes from a midstate any number of times, whatever was hashed in between.
func TestMidstate(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 8))
	message := make([]byte, 4*digestSize)
	for i := range message {
		message[i] = byte(random.Uint32())
	}
	d := newDigest()
	defer d.release()
	var at midstate // used again, as a cache does
	for range 200 {
		head := message[:random.IntN(3*digestSize)]
		d.reset()
		for rest := head; len(rest) > 0; {
			n := 1 + random.IntN(min(len(rest), 600))
			d.bytes(rest[:n])
			rest = rest[n:]
		}
		at.save(d)
		for range 3 {
			end := len(head) + random.IntN(digestSize)
			d.reset()
			d.bytes(message[:random.IntN(2*digestSize)]) // another message
			at.load(d)
			d.bytes(message[len(head):end])
			if d.sum() != sha256.Sum256(message[:end]) {
				t.Fatalf("left off after %d bytes of %d: another hash", len(head), end)
			}
		}
	}
}
