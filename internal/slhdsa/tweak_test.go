package slhdsa

import (
	"bytes"
	"crypto/sha256"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestSums compares all ways to hash with the formula.
func TestSums(t *testing.T) {
	forEachKernel(t, func(t *testing.T) {
		t.Helper()
		rapid.Check(t, func(t *rapid.T) {
			seed := node(drawBytes(t, nodeSize))
			tw := newTweak(&seed)
			n := rapid.IntRange(0, lanes).Draw(t, "blocks")
			var want [lanes]node
			for i := range n {
				a, left, right := address(drawBytes(t, addressSize)), node(drawBytes(t, nodeSize)),
					node(drawBytes(t, nodeSize))
				if rapid.Bool().Draw(t, "one node") {
					tw.blocks[i].set(a, &left)
					want[i] = plainSum(seed, a[:], left[:])
				} else {
					tw.blocks[i].setPair(a, &left, &right)
					want[i] = plainSum(seed, a[:], left[:], right[:])
				}
			}
			tw.sumBatch(n)
			if got := tw.sums; !slices.Equal(got[:n], want[:n]) {
				t.Fatalf("batch of %d: %x, want %x", n, got[:n], want[:n])
			}
			long := drawBytes(t, rapid.IntRange(0, 300).Draw(t, "size"))
			if got, want := tw.sum(long[:len(long)/2], long[len(long)/2:]), plainSum(seed, long); got != want {
				t.Fatalf("sum of %d bytes: %x, want %x", len(long), got, want)
			}
		})
	})
}

func plainSum(seed node, parts ...[]byte) node {
	full := sha256.Sum256(append(append(seed[:], make([]byte, 48)...), bytes.Join(parts, nil)...))
	return node(full[:])
}

func drawBytes(t *rapid.T, n int) []byte {
	return rapid.SliceOfN(rapid.Byte(), n, n).Draw(t, "bytes")
}

func TestTweakIsCleared(t *testing.T) {
	forEachKernel(t, func(t *testing.T) {
		t.Helper()
		tw := newTweak(&node{1})
		secret := node(bytes.Repeat([]byte{0x5a}, nodeSize))
		tw.blocks[0].set(address{}, &secret)
		tw.sumBatch(1)
		tw.sum(secret[:])
		tw.clear()
		if tw.batch != (batch{}) {
			t.Error("the batch keeps what was hashed")
		}
		if bytes.Contains(stateOf(tw.digest), secret[:]) {
			t.Error("the digest keeps what was hashed")
		}
	})
}

func TestUnknownState(t *testing.T) {
	state := stateOf(sha256.New())
	for _, changed := range [][]byte{nil, state[:35], append([]byte("sha\x04"), state[4:]...)} {
		if got := registers(changed); got != nil {
			t.Errorf("registers(%x) = %x, want nil", changed, *got)
		}
	}
	// Without registers the digest serves.
	tw := newTweak(&node{7})
	tw.start = nil
	a, m := address{1}, node{2}
	tw.blocks[0].set(a, &m)
	tw.sumBatch(1)
	if got, want := tw.sums[0], plainSum(node{7}, a[:], m[:]); got != want {
		t.Errorf("sum %x, want %x", got, want)
	}
}

func TestDigitsOf(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := node(drawBytes(t, nodeSize))
		got, counter, err := newTweak(&node{}).digitsOf(&m)
		if err != nil {
			t.Fatal(err)
		}
		for c := range int(counter) + 1 {
			full := sha256.Sum256(append(m[:], byte(c>>8), byte(c)))
			d := digits(full[:nodeSize])
			if first := d.sum() == digitSum; first != (c == int(counter)) {
				t.Fatalf("counter %d: digits %x, want those of %d", c, d, counter)
			} else if first && d != got {
				t.Fatalf("digits %x, want %x", got, d)
			}
		}
	})
}
