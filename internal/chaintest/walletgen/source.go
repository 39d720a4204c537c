package walletgen

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/btcsuite/btcd/btcutil/hdkeychain"
	"github.com/btcsuite/btcd/chaincfg"

	"github.com/seed61375155/trawl/descriptor"
)

// A Source is a descriptor with its scripts, which are derived once for many wallets.
type Source struct {
	Text     string // with public keys alone
	Branches []*Branch

	// Account says which account of a wallet the descriptor is of; nil: of none.
	Account *Account
}

// An Account is a receiving and a change chain below a hardened path of a master key.
type Account struct {
	Master  string // extended private key
	Purpose uint32 // of BIP43: 44, 49, 84, 86
	Number  uint32
}

// A Branch is one of the descriptors that a text with several paths stands for.
type Branch struct {
	*descriptor.Descriptor

	base    int32      // the first index of scripts
	scripts [][][]byte // by index
}

// ahead is how many indices are derived at a time.
const ahead = 64

// Scripts returns the scripts of an index; nil: the index is above the highest that there is.
func (b *Branch) Scripts(index int32) [][]byte {
	if index < b.base {
		return b.one(index)
	}
	for len(b.scripts) <= int(index-b.base) {
		first := int64(b.base) + int64(len(b.scripts))
		if first > math.MaxInt32 {
			return nil
		}
		last := min(first+ahead-1, math.MaxInt32)
		err := b.ExpandRange(context.Background(), uint32(first), uint32(last), 1,
			func(_ uint32, scripts [][]byte) error {
				b.scripts = append(b.scripts, scripts)
				return nil
			})
		if err != nil {
			panic(err) // a public descriptor
		}
	}
	return b.scripts[index-b.base]
}

func (b *Branch) one(index int32) [][]byte {
	scripts, err := b.Expand(uint32(index))
	if err != nil {
		panic(err) // as above
	}
	return scripts
}

// forms are the script forms of descriptors. A, B and C are keys with their paths, which end in a wildcard; P, Q are
// keys with several paths; M, N are keys without a path.
var forms = []string{
	"pkh(A)", "wpkh(A)", "sh(wpkh(A))", "tr(A)", "wpkh(P)", "tr(P)", "pkh(P)", "sh(wpkh(P))", // most wallets
	"pk(A)", "combo(A)", "rawtr(A)", "combo(P)", "multi(1,A,B)", "sh(multi(2,A,B))", "sh(sortedmulti(1,A,B))",
	"wsh(multi(1,A,B))", "wsh(sortedmulti(2,A,B,C))", "wsh(sortedmulti(2,P,Q))", "sh(wsh(sortedmulti(1,A,B)))",
	"wsh(pk(A))", "wsh(pkh(A))", "sh(pkh(A))", "sh(wsh(pkh(A)))", "tr(A,pk(B))", "tr(A,{pk(B),pk(C)})",
	"tr(A,multi_a(1,B,C))", "tr(A,{pk(B),sortedmulti_a(2,B,C)})", "tr(P,pk(Q))", "tr(musig(M,N)/T/*)",
	"wsh(andor(pk(A),older(144),pk(B)))", "wsh(and_v(v:pk(A),after(500000)))", "tr(A,and_v(v:pk(B),older(9)))",
	"wsh(or_d(pk(P),and_v(v:pkh(Q),older(1000))))", "wpkh(R)",
}

// usual is how many of the forms most wallets have.
const usual = 8

// keys makes extended keys.
type keys struct {
	random *rand.Rand
	net    *descriptor.Network
	params *chaincfg.Params
}

// master returns a new extended private key.
func (k *keys) master() *hdkeychain.ExtendedKey {
	seed := make([]byte, hdkeychain.RecommendedSeedLen)
	for i := range seed {
		seed[i] = byte(k.random.Uint32())
	}
	key, err := hdkeychain.NewMaster(seed, k.params)
	if err != nil {
		panic(err) // of one in 2^127 seeds
	}
	return key
}

// public returns the public key below a path.
func public(key *hdkeychain.ExtendedKey, path ...uint32) *hdkeychain.ExtendedKey {
	for _, step := range path {
		key = must(key.Derive(step))
	}
	return must(key.Neuter())
}

func must(key *hdkeychain.ExtendedKey, err error) *hdkeychain.ExtendedKey {
	if err != nil {
		panic(err) // as of master
	}
	return key
}

// source returns a descriptor of keys that no other has. base is the first index of its wallets.
func (k *keys) source(xpub string, number int, base int32) *Source {
	form := forms[k.random.IntN(len(forms))]
	if k.random.IntN(2) == 0 {
		form = forms[k.random.IntN(usual)]
	}
	path := fmt.Sprintf("%s/%d/", xpub, number)
	text := strings.NewReplacer(
		"A)", path+"0/*)", "A,", path+"0/*,", "B)", path+"1/*)", "B,", path+"1/*,", "C)", path+"2/*)",
		"P)", path+"<0;1>/*)", "P,", path+"<0;1>/*,", "Q)", path+"<7;8>/*)", "R)", path+"<0;1;5>/*)",
		"M", xpub+fmt.Sprintf("/%d", number), "N", xpub+fmt.Sprintf("/%d", number+1_000_000), "T", strconv.Itoa(number),
	).Replace(form)
	return k.parsed(text, base)
}

// accounts returns the descriptors of the first accounts of a purpose below a master key.
func (k *keys) accounts(master *hdkeychain.ExtendedKey, purpose uint32, count int) (all []*Source) {
	const hardened = hdkeychain.HardenedKeyStart
	form := map[uint32]string{44: "pkh(%s)", 49: "sh(wpkh(%s))", 84: "wpkh(%s)", 86: "tr(%s)"}[purpose]
	for number := range uint32(count) {
		xpub := public(master, hardened+purpose, hardened+1, hardened+number)
		key := fmt.Sprintf("[%08x/%dh/1h/%dh]%v/<0;1>/*", fingerprint(master), purpose, number, xpub)
		s := k.parsed(fmt.Sprintf(form, key), 0)
		s.Account = &Account{Master: master.String(), Purpose: purpose, Number: number}
		all = append(all, s)
	}
	return all
}

// fingerprint returns a key's fingerprint, which its children name as their parent's.
func fingerprint(key *hdkeychain.ExtendedKey) uint32 {
	return must(key.Derive(0)).ParentFingerprint()
}

func (k *keys) parsed(text string, base int32) *Source {
	branches, err := descriptor.Parse(text, k.net, descriptor.Options{})
	if err != nil {
		panic(fmt.Errorf("%s: %w", text, err))
	}
	s := &Source{Text: text}
	for _, branch := range branches {
		s.Branches = append(s.Branches, &Branch{Descriptor: branch, base: base})
	}
	return s
}
