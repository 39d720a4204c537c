package migrate

import "github.com/seed61375155/trawl/internal/walletfile"

// The forms of scripts as [descriptor.Network.Template] names them.
const (
	formPubKey        = "pubkey"
	formPubKeyHash    = "pubkeyhash"
	formScriptHash    = "scripthash"
	formMultisig      = "multisig"
	formWitnessKey    = "witness_v0_keyhash"
	formWitnessScript = "witness_v0_scripthash"
)

// level is where a script stands.
type level int

const (
	atTop level = iota
	inScriptHash
	inWitness
)

// claim is what a wallet says of a script, weakest first.
type claim int

const (
	foreign claim = iota
	watching
	spendable
	invalid // nobody can spend it
)

// isMine reports whether outputs to the script are the wallet's.
func (s *store) isMine(script []byte) bool {
	c := s.claimOf(script, atTop, true)
	return c == watching || c == spendable
}

// claimOf decides on a script. If inside is not set, a known script behind a hash
// makes the output spendable without a look into the script.
func (s *store) claimOf(script []byte, at level, inside bool) claim {
	c := s.solve(script, at, inside)
	if c == foreign && s.watched[string(script)] {
		return watching
	}
	return c
}

func (s *store) solve(script []byte, at level, inside bool) claim {
	t := s.net.Template(script)
	switch t.Form {
	case formPubKey:
		return s.claimOfKey(walletfile.KeyIDOf(t.Data[0]), at == inWitness && len(t.Data[0]) != compressedSize)
	case formPubKeyHash:
		id := walletfile.KeyID(t.Data[0])
		public := s.public[id]
		return s.claimOfKey(id, at == inWitness && public != nil && !public.Compressed())
	case formWitnessKey:
		switch {
		case at == inWitness:
			return invalid
		case at == atTop && !s.has(script):
			return foreign // as before there was segwit
		}
		return s.claimOf(pubKeyHashScript(t.Data[0]), inWitness, true)
	case formScriptHash:
		if at != atTop {
			return invalid
		}
		return s.behind(walletfile.KeyID(t.Data[0]), inScriptHash, inside)
	case formWitnessScript:
		switch {
		case at == inWitness:
			return invalid
		case at == atTop && !s.has(script):
			return foreign
		}
		return s.behind(witnessScriptID(t.Data[0]), inWitness, inside)
	case formMultisig:
		return s.claimOfMultisig(t.Data, at)
	}
	return foreign
}

// has reports whether the wallet has a script for outputs that pay to its hash.
func (s *store) has(script []byte) bool { return s.scripts[walletfile.KeyIDOf(script)] != nil }

func (s *store) claimOfKey(id walletfile.KeyID, uncompressed bool) claim {
	switch {
	case uncompressed:
		return invalid
	case s.keys[id] != nil:
		return spendable
	}
	return foreign
}

// behind decides on the script behind a hash.
func (s *store) behind(id walletfile.KeyID, at level, inside bool) claim {
	script := s.scripts[id]
	switch {
	case script == nil:
		return foreign
	case !inside:
		return spendable
	}
	return s.claimOf(script, at, true)
}

// claimOfMultisig decides on a script of several keys, of which the wallet must have
// all. By itself, without a hash, it is never the wallet's.
func (s *store) claimOfMultisig(keys [][]byte, at level) claim {
	if at == atTop {
		return foreign
	}
	all := true
	for _, key := range keys {
		if at == inWitness && len(key) != compressedSize {
			return invalid
		}
		all = all && s.keys[walletfile.KeyIDOf(key)] != nil
	}
	if all {
		return spendable
	}
	return foreign
}
