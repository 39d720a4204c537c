package slhdsa

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"testing"
	"unsafe"

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

// TestKernels holds each kernel against crypto/sha256, one hash at a time.
func TestKernels(t *testing.T) {
	for _, k := range kernels {
		t.Run(k.name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				checkWalk(t, k, drawBytes(t, walkInput))
				checkTree(t, k, drawBytes(t, treeInput), rapid.IntRange(0, 7).Draw(t, "height"))
			})
		})
	}
}

// Sizes of what the checks of a kernel read.
const (
	walkInput = nodeSize + addressSize + chains*(nodeSize+2)
	treeInput = nodeSize + addressSize + 4 + nodeSize
)

// checkWalk compares a walk of any chains between any steps.
func checkWalk(t failer, k kernel, raw []byte) {
	t.Helper()
	seed, a := node(raw), address(raw[nodeSize:])
	raw = raw[nodeSize+addressSize:]
	tw := k.newTweak(&seed)
	var from, to digits
	var want [chains]node
	for chain := range chains {
		from[chain], to[chain] = raw[chain], raw[chains+chain]
		value := node(raw[2*chains+chain*nodeSize:])
		tw.values[chain] = value
		for step := int(from[chain]); step < int(to[chain]); step++ {
			at := a.at(chain, uint32(step))
			value = plainSum(seed, at[:], value[:])
		}
		want[chain] = value
	}
	tw.by.walk(tw, a.at(0, 0), from, to)
	if tw.values != want {
		t.Fatalf("walk from %v to %v: %x, want %x", from, to, tw.values, want)
	}
}

// checkTree compares the leaves of a tree and their parents.
func checkTree(t failer, k kernel, raw []byte, height int) {
	t.Helper()
	seed, a := node(raw), address(raw[nodeSize:])
	raw = raw[nodeSize+addressSize:]
	tw := k.newTweak(&seed)
	n := 1 << height
	first := binary.BigEndian.Uint32(raw) &^ uint32(n-1)
	nodes := make([]node, n)
	want := make([]node, n)
	for i := range nodes {
		sum := sha256.Sum256(binary.BigEndian.AppendUint32(raw[4:4+nodeSize:4+nodeSize], uint32(i)))
		nodes[i] = node(sum[:])
		at := a.at(0, first+uint32(i))
		want[i] = plainSum(seed, at[:], nodes[i][:])
	}
	tw.by.leaves(tw, a, first, nodes)
	if !slices.Equal(nodes, want) {
		t.Fatalf("%d leaves from %d on: %x, want %x", n, first, nodes, want)
	}
	if n == 1 {
		return
	}
	for i := range n / 2 {
		at := a.at(height, first/2+uint32(i))
		want[i] = plainSum(seed, at[:], want[2*i][:], want[2*i+1][:])
	}
	tw.by.parents(tw, a, height, first/2, nodes)
	if !slices.Equal(nodes[:n/2], want[:n/2]) {
		t.Fatalf("%d parents from %d on: %x, want %x", n/2, first/2, nodes[:n/2], want[:n/2])
	}
}

// failer is a test of any kind.
type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

// TestSegments: the segments of a walk are in order, and have each step of each
// chain once.
func TestSegments(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		from, to := digits(drawBytes(t, chains)), digits(drawBytes(t, chains))
		var walked [chains][steps]bool
		last := 0
		for s := segmentAt(0, from, to); s.n > 0; s = segmentAt(s.end, from, to) {
			if s.first < last || s.end <= s.first {
				t.Fatalf("from %v to %v: segment %+v after %d", from, to, s, last)
			}
			last = s.end
			for _, chain := range s.chains[:s.n] {
				for step := s.first; step < s.end; step++ {
					walked[chain][step] = true
				}
			}
		}
		for chain := range chains {
			for step := range steps {
				if walked[chain][step] != (int(from[chain]) <= step && step < int(to[chain])) {
					t.Fatalf("from %v to %v: chain %d, step %d: %v", from, to, chain, step, walked[chain][step])
				}
			}
		}
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
		tw.oneTimeKey(address{}, &secret, nil, nil)
		tw.forsLeaves(make([]node, lanes), address{}, 0, &secret, 0, make([]byte, nodeSize))
		tw.blocks[0].set(address{}, &secret)
		tw.sumBatch(1)
		tw.sum(secret[:])
		tw.clear()
		if *tw.batch != (batch{}) {
			t.Error("the batch keeps what was hashed")
		}
		if bytes.Contains(stateOf(tw.digest), secret[:]) {
			t.Error("the digest keeps what was hashed")
		}
	})
}

// TestAligned: vectors of 64 bytes in hashed data cross no lines of caches.
func TestAligned(t *testing.T) {
	for range 100 {
		tw := newTweak(&node{})
		for name, at := range map[string]unsafe.Pointer{
			"blocks": unsafe.Pointer(&tw.blocks), "scratch": unsafe.Pointer(&tw.scratch),
		} {
			if uintptr(at)%64 != 0 {
				t.Fatalf("%s at %p", name, at)
			}
		}
	}
}

func TestUnknownState(t *testing.T) {
	state := stateOf(sha256.New())
	for _, changed := range [][]byte{nil, state[:35], append([]byte("sha\x04"), state[4:]...)} {
		if got := registers(changed); got != nil {
			t.Errorf("registers(%x) = %x, want nil", changed, *got)
		}
	}
	if got := kernels[0].from(&midstate{saved: state}); got != (byBlocks{portable{}}) {
		t.Errorf("without registers %T hashes", got)
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
