package miniscript

const (
	// relativeSeconds is the bit of a relative lock time that counts units of
	// 512 seconds (BIP68).
	relativeSeconds = 1 << 22

	// absoluteSeconds is the least absolute lock time that is a time stamp.
	absoluteSeconds = 500_000_000
)

// leafTypes are the types of fragments without sub-expressions; those of lock
// times have one more letter.
var leafTypes = [fragmentCount]properties{
	constFalse: props("Bzudemsxk"),
	constTrue:  props("Bzufmxk"),
	pkK:        props("Konudemsxk"),
	pkH:        props("Knudemsxk"),
	older:      props("Bzfmxk"),
	after:      props("Bzfmxk"),
	sha256:     props("Bonudmk"),
	hash256:    props("Bonudmk"),
	ripemd160:  props("Bonudmk"),
	hash160:    props("Bonudmk"),
	multi:      props("Bnudemsk"),
	multiA:     props("Budemsk"),
}

// typeRules compute the types of fragments from those of their first three
// sub-expressions. A result without base type stands for no type.
var typeRules = [fragmentCount]func(x, y, z properties) properties{
	wrapA: typeA, wrapS: typeS, wrapC: typeC, wrapD: typeD, wrapV: typeV, wrapJ: typeJ, wrapN: typeN,
	andV: typeAndV, andB: typeAndB, orB: typeOrB, orC: typeOrC, orD: typeOrD, orI: typeOrI, andOr: typeAndOr,
}

// typeOf computes the type of a node from those of its parts.
func typeOf(n *node, ctx Context) properties {
	switch n.fragment {
	case older:
		return leafTypes[older] | lockUnit(n.number&relativeSeconds != 0, "g", "h")
	case after:
		return leafTypes[after] | lockUnit(n.number >= absoluteSeconds, "i", "j")
	case thresh:
		return typeThresh(n.subs, int(n.number))
	default:
		if len(n.subs) == 0 {
			return leafTypes[n.fragment]
		}
		return typeComposite(n, ctx)
	}
}

func typeComposite(n *node, ctx Context) properties {
	var part [3]properties
	for i, sub := range n.subs {
		part[i] = sub.typ
	}
	typ := typeRules[n.fragment](part[0], part[1], part[2])
	if n.fragment == wrapD && ctx == Tapscript {
		// The condition of an IF must be 1 or empty by consensus there;
		// elsewhere that is only a policy.
		typ |= props("u")
	}
	if typ.only("BVKW") == 0 {
		return 0
	}
	return typ
}

func lockUnit(seconds bool, ifSeconds, ifBlocks string) properties {
	if seconds {
		return props(ifSeconds)
	}
	return props(ifBlocks)
}

func typeA(x, _, _ properties) properties {
	return props("W").when(x.has("B")) | x.only("udefsmghijk") | props("x")
}

func typeS(x, _, _ properties) properties {
	return props("W").when(x.has("Bo")) | x.only("udefsmxghijk")
}

func typeC(x, _, _ properties) properties {
	return props("B").when(x.has("K")) | x.only("ondefmghijk") | props("us")
}

func typeD(x, _, _ properties) properties {
	return props("B").when(x.has("Vz")) | props("o").when(x.has("z")) | props("e").when(x.has("f")) |
		x.only("smghijk") | props("ndx")
}

func typeV(x, _, _ properties) properties {
	return props("V").when(x.has("B")) | x.only("zonsmghijk") | props("fx")
}

func typeJ(x, _, _ properties) properties {
	return props("B").when(x.has("Bn")) | props("e").when(x.has("f")) | x.only("ousmghijk") | props("ndx")
}

func typeN(x, _, _ properties) properties {
	return x.only("Bzondefsmghijk") | props("ux")
}

func typeAndV(x, y, _ properties) properties {
	return y.only("BVK").when(x.has("V")) | inSequence(x, y) | (x & y).only("dm") |
		props("f").when(y.has("f") || x.has("s")) | y.only("ux") | bothNeeded(x, y)
}

func typeAndB(x, y, _ properties) properties {
	forced := (x & y).has("f") || x.has("sf") || y.has("sf")
	return x.only("B").when(y.has("W")) | inSequence(x, y) | (x & y).only("dm") |
		(x & y).only("e").when((x & y).has("s")) | props("f").when(forced) | props("ux") | bothNeeded(x, y)
}

// inSequence has the letters that say what two expressions take, one after the
// other.
func inSequence(x, y properties) properties {
	return (x & y).only("z") | (x | y).only("o").when((x | y).has("z")) | x.only("n") | y.only("n").when(x.has("z"))
}

// bothNeeded has the letters for signatures and lock times of expressions that
// must both be satisfied.
func bothNeeded(x, y properties) properties {
	return (x | y).only("sghij") | (x & y).only("k").when(!mixed(x, y))
}

// mixed reports whether one has lock times in seconds and the other has lock
// times of the same kind in blocks.
func mixed(x, y properties) bool {
	return x.has("g") && y.has("h") || x.has("h") && y.has("g") ||
		x.has("i") && y.has("j") || x.has("j") && y.has("i")
}

func typeOrB(x, y, _ properties) properties {
	return props("B").when(x.has("Bd") && y.has("Wd")) | (x & y).only("z") |
		(x | y).only("o").when((x | y).has("z")) | (x & y).only("e") |
		(x & y).only("m").when((x&y).has("e") && (x|y).has("s")) | props("dux") | eitherNeeded(x, y)
}

func typeOrC(x, y, _ properties) properties {
	return y.only("V").when(x.has("Bdu")) | elseBranch(x, y) | props("fx") | eitherNeeded(x, y)
}

func typeOrD(x, y, _ properties) properties {
	return y.only("B").when(x.has("Bdu")) | elseBranch(x, y) | y.only("udef") | props("x") | eitherNeeded(x, y)
}

// elseBranch has the letters of a script that goes on to y only when x is
// dissatisfied.
func elseBranch(x, y properties) properties {
	return (x & y).only("z") | x.only("o").when(y.has("z")) |
		(x & y).only("m").when(x.has("e") && (x|y).has("s"))
}

func typeOrI(x, y, _ properties) properties {
	return (x & y).only("BVKuf") | props("o").when((x & y).has("z")) | (x | y).only("d") |
		(x | y).only("e").when((x | y).has("f")) | (x & y).only("m").when((x | y).has("s")) |
		props("x") | eitherNeeded(x, y)
}

// eitherNeeded has the letters for signatures and lock times of expressions of
// which one must be satisfied.
func eitherNeeded(x, y properties) properties {
	return (x | y).only("ghij") | (x & y).only("sk")
}

func typeAndOr(x, y, z properties) properties {
	safe := x.has("s") || y.has("f") // to leave y unsatisfied
	return (y & z).only("BVKu").when(x.has("Bdu")) | (x & y & z).only("z") |
		(x | y&z).only("o").when((x | y&z).has("z")) | z.only("d") | z.only("ef").when(safe) |
		(x & y & z).only("m").when(x.has("e") && (x|y|z).has("s")) | (z & (x | y)).only("s") | props("x") |
		(x | y | z).only("ghij") | (x & y & z).only("k").when(!mixed(x, y))
}

// typeThresh is the type of a threshold: the first part must be a B, the
// others W, all of them with d and u.
func typeThresh(subs []*node, threshold int) properties {
	all, locks := props("emk"), properties(0)
	taken, signed, mix := 0, 0, false
	for i, sub := range subs {
		t, base := sub.typ, "Wdu"
		if i == 0 {
			base = "Bdu"
		}
		if !t.has(base) {
			return 0
		}
		all &= t
		mix = mix || mixed(locks, t)
		locks |= t.only("ghij")
		switch {
		case t.has("z"):
		case t.has("o"):
			taken++
		default:
			taken += 2
		}
		if t.has("s") {
			signed++
		}
	}
	unsigned := len(subs) - signed
	return props("Bdu") | props("z").when(taken == 0) | props("o").when(taken == 1) | locks |
		all.only("e").when(unsigned == 0) | all.only("m").when(all.has("e") && unsigned <= threshold) |
		props("s").when(unsigned < threshold) | all.only("k").when(!mix || threshold == 1)
}
