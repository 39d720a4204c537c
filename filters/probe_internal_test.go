package filters

import (
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"
)

// checkProbe looks numbers up in up to 32 filters by a kernel's steps, and holds
// each step against what it is to do.
func checkProbe(t *testing.T, k *kernel, rng *rand.Rand, count int) {
	t.Helper()
	n := 1 + count%vectorLanes
	var p prober
	all := make([][]uint64, n)
	for i := range all {
		all[i] = ascending(rng, 1+rng.IntN(1+rng.IntN(600)))
		var f Filter
		for j := range f.Block {
			f.Block[j] = byte(rng.Uint32())
		}
		f.Data = Encode(all[i])
		f.Lines, f.N, _ = AppendLines(nil, &f.Block, f.Data)
		if rng.IntN(4) > 0 { // what may be read after a filter does not matter
			f.Data = append(f.Data, slices.Repeat([]byte{byte(rng.Uint32())}, rng.IntN(100))...)[:len(f.Data)]
		}
		if rng.IntN(8) == 0 {
			f.Lines[rng.IntN(len(f.Lines))] ^= 1 << rng.IntN(8)
		}
		if !p.add(i, &f) {
			t.Fatal("not added")
		}
	}
	g := &p.groups[0]
	g.pad()
	hashes := checkAcross(t, k, rng, g)
	for i := range n { // elements, numbers beside them, and others
		if v := all[i][rng.IntN(len(all[i]))]; rng.IntN(3) > 0 {
			hashes[i] = min(v+rng.Uint64N(2), g.keys.limit[i]-1)
		}
	}
	found := checkLook(t, k, hashes, g)
	places := checkPlaces(t, k, hashes, g, found, &p)
	which := checkSums(t, k, places, &p)
	slices.SortFunc(which, func(i, j uint32) int { return int(places[i].before) - int(places[j].before) })
	k.walk(places, which, p.all)
	for _, i := range which {
		f := places[i].filter
		if _, want := slices.BinarySearch(all[f], places[i].want); p.all[f].hit != want {
			t.Fatalf("%s: place %d of %d: got %v, want %v", k.name, i, len(which), p.all[f].hit, want)
		}
	}
}

// checkAcross hashes a script with the keys of a group.
func checkAcross(t *testing.T, k *kernel, rng *rand.Rand, g *probeGroup) *row {
	t.Helper()
	scripts, m := randomMessages(rng, 1+rng.IntN(3*tileWidth))
	at := rng.IntN(len(scripts))
	hashes := row{vectorLanes - 1: ^uint64(0)} // which must not be looked at
	k.hashAcross(&hashes, m.tile(at), m.words, &g.keys, g.count)
	for i, got := range hashes[:g.count] {
		if want := reduce(sipHash(sipKey{g.keys.k0[i], g.keys.k1[i]}, scripts[at]), g.keys.limit[i]); got != want {
			t.Fatalf("%s: key %d of %d: got %d, want %d", k.name, i, g.count, got, want)
		}
	}
	for i, v := range hashes[g.count:] {
		if _, ok := k.hasher.(portable); !ok && v >= g.keys.limit[g.count+i] {
			t.Fatalf("%s: %d keys: hash %d is %d", k.name, g.count, g.count+i, v)
		}
	}
	return &hashes
}

// checkLook looks at the lines of hashes, of which some are damaged, and returns
// for which of them there is something to find.
func checkLook(t *testing.T, k *kernel, hashes *row, g *probeGroup) (found uint32) {
	t.Helper()
	k.fetchLines(hashes, g)
	found, bad := k.lookAcross(hashes, g), k.checkAcross(hashes, g)
	if (found|bad)>>g.count != 0 && g.count < vectorLanes {
		t.Fatalf("%s: found %b and bad %b of %d", k.name, found, bad, g.count)
	}
	for i, v := range hashes[:g.count] {
		line := g.line(i, v)
		bit := v >> slotBits % (64 * lineChunks)
		if got, want := found>>i&1 != 0, line[bit/8]>>(bit%8)&1 != 0; got != want {
			t.Fatalf("%s: line %d of %d: got %v, want %v", k.name, i, g.count, got, want)
		}
		if got, want := bad>>i&1 == 0, lineIntact(line, g.seeds[i], int(v>>lineBits)); got != want {
			t.Fatalf("%s: line %d of %d: intact %v, want %v", k.name, i, g.count, got, want)
		}
		lines := g.all(i)
		k.fetch(lines)
		if got, want := k.intactLines(lines, g.seeds[i]), intactLines(lines, g.seeds[i]); got != want {
			t.Fatalf("%s: lines %d of %d: intact %v, want %v", k.name, i, g.count, got, want)
		}
	}
	return found &^ bad
}

// checkPlaces makes the places of hashes.
func checkPlaces(t *testing.T, k *kernel, hashes *row, g *probeGroup, found uint32, p *prober) []place {
	t.Helper()
	places := make([]place, bits.OnesCount32(found))
	k.placesAcross(places, hashes, g, found, p.all)
	for _, got := range places {
		i := bits.TrailingZeros32(found)
		found &= found - 1
		if want := placeOf(g.line(i, hashes[i]), hashes[i], uint32(i)); got != want {
			t.Fatalf("%s: got %+v, want %+v", k.name, got, want)
		}
	}
	return places
}

// checkSums sums the parts of code of places, and returns those that a kernel may
// walk from.
func checkSums(t *testing.T, k *kernel, places []place, p *prober) (walkable []uint32) {
	t.Helper()
	var summed []uint32
	for i := range places {
		w := &places[i]
		if w.size() >= minSummed {
			summed = append(summed, uint32(i))
		}
		if w.end+walkAhead < p.all[w.filter].windows {
			walkable = append(walkable, uint32(i))
		}
	}
	sums := make([]uint32, len(summed), vectorLanes)
	k.sumParts(sums, places, summed, p.all)
	for i, at := range summed {
		if sums[i] != places[at].sum {
			t.Fatalf("%s: part %d of %d: got sum %x, want %x", k.name, i, len(summed), sums[i], places[at].sum)
		}
	}
	return walkable
}
