package keys

import (
	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/walletfile"
)

// form tells scripts of one descriptor apart whose inputs differ in size: those of combo().
type form struct {
	length int
	first  byte
	large  bool // signatures may be a byte longer than those of wallets
}

// inputSize is what a descriptor says of a form.
type inputSize struct {
	size descriptor.InputSize
	ok   bool
}

// InputSize returns the size of an input that spends an own script. It is false for other
// scripts, and if the way to spend the script is not known. If large is set, signatures
// are made elsewhere, and may be a byte longer than those of wallets.
func (s *Set) InputSize(pkScript []byte, large bool) (descriptor.InputSize, bool) {
	ours := s.scripts[string(pkScript)]
	if ours == nil || len(pkScript) == 0 {
		return descriptor.InputSize{}, false
	}
	for _, by := range ours.owners {
		if size, ok := by.manager.inputSize(by.index, ours.bytes, large); ok {
			return size, true
		}
	}
	return descriptor.InputSize{}, false
}

// inputSize asks the descriptor once for each form of its scripts: they have one size.
func (m *descriptorManager) inputSize(index int32, pkScript []byte, large bool) (descriptor.InputSize, bool) {
	at := form{len(pkScript), pkScript[0], large}
	if known, asked := m.sizes[at]; asked {
		return known.size, known.ok
	}
	size, ok := m.desc.InputSize(uint32(index), pkScript, large)
	if m.sizes == nil {
		m.sizes = make(map[form]inputSize)
	}
	m.sizes[at] = inputSize{size, ok}
	return size, ok
}

// ChangeType returns the type of an address for change beside payments to some scripts:
// a type that these have, so that change does not stand out.
func (s *Set) ChangeType(payments [][]byte) string {
	if s.params.Types.Change != "" {
		return s.params.Types.Change
	}
	if s.params.Kinds.OnlySlowKeys {
		return kindOf(walletfile.MerkleRoot).String()
	}
	if s.defaultType == walletfile.Legacy {
		return kindOf(walletfile.Legacy).String()
	}
	paid := make(map[string]bool)
	for _, script := range payments {
		paid[s.params.Network.ScriptType(script)] = true
	}
	has := func(kind walletfile.OutputType) bool {
		return s.active[walletfile.Slot{Type: kind, Internal: true}] != nil
	}
	for _, pair := range []struct {
		form string
		kind walletfile.OutputType
	}{
		{"witness_v1_taproot", walletfile.Bech32m},
		{"witness_v0_keyhash", walletfile.Bech32},
		{"witness_v2_p2mr", walletfile.MerkleRoot},
		{"scripthash", walletfile.P2SHSegwit},
		{"pubkeyhash", walletfile.Legacy},
	} {
		if paid[pair.form] && has(pair.kind) {
			return kindOf(pair.kind).String()
		}
	}
	others := []walletfile.OutputType{walletfile.Bech32m, walletfile.Bech32, walletfile.MerkleRoot}
	if s.defaultType == walletfile.MerkleRoot {
		others[1], others[2] = others[2], others[1]
	}
	for _, kind := range others {
		if has(kind) {
			return kindOf(kind).String()
		}
	}
	return kindOf(s.defaultType).String()
}

// NextChange returns the script that the next address for change of a type has, without
// giving it out.
//
// Errors: [*messages.WalletError].
func (p *Pool) NextChange(kind string) ([]byte, error) {
	m, err := p.changeManager(kind)
	if err != nil {
		return nil, err
	}
	return p.peekScript(m)
}

// TakeChange gives out the address for change that [Pool.NextChange] named. It is false
// where that has been given out meanwhile.
func (p *Pool) TakeChange(kind string, pkScript []byte) bool {
	m, err := p.changeManager(kind)
	if err != nil {
		return false
	}
	next, err := p.peekScript(m)
	if err != nil || string(next) != string(pkScript) {
		return false
	}
	_, err = p.nextScript(m)
	return err == nil
}
