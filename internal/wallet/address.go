package wallet

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"github.com/btcsuite/btcd/txscript"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/wallet/book"
	"github.com/seed61375155/trawl/internal/wallet/codes"
	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/messages"
)

// noSeed is what descriptor wallets tell as the id of a seed.
var noSeed = strings.Repeat("00", 20)

// hardenedBit marks hardened steps in a path.
const hardenedBit = 1 << 31

// solve tells how to spend an own script; nil for others.
func (s *script) solve() *descriptor.Solution {
	if !s.mine() {
		return nil
	}
	by := s.owners[0]
	solution, err := by.source.desc.Solve(uint32(by.index), s.bytes)
	if err != nil {
		return nil
	}
	return solution
}

// AddressInfo tells what the wallet knows of an address, which is given by its
// output script.
func (w *Wallet) AddressInfo(pkScript []byte) messages.AddressInfo {
	s := w.scripts[string(pkScript)]
	if s == nil {
		s = &script{bytes: pkScript, dest: book.DestinationOf(w.params.Network, pkScript)}
	}
	info := messages.AddressInfo{IsMine: s.mine(), IsChange: w.change(s), Labels: []string{}}
	if label := w.book.Label(s.dest); label != nil {
		info.Labels = append(info.Labels, *label)
	}
	solution := s.solve()
	if solution == nil {
		return info
	}
	by := s.owners[0].source
	info.ParentDesc, _ = w.shown(by)
	info.PQCKeys = s.pqcStates(solution)
	if info.Solvable = solution.Solvable; info.Solvable {
		info.Desc = solution.Text
	}
	info.Redeem, info.Witness = solution.Redeem, solution.Witness
	info.SigsNeeded, info.Keys = multisig(innermost(solution))
	if solution.Key != nil && s.dest.Kind() != book.Taproot {
		info.PubKey = solution.Key.PublicKey
	}
	if from := originKey(s, solution); from != nil {
		info.Timestamp, info.HasPath = int64(by.record.CreationTime), true
		info.KeyPath, info.SeedID = keyPath(from.Path), noSeed
		info.MasterFP = hex.EncodeToString(from.Fingerprint[:])
	}
	return info
}

// originKey returns the key whose origin is told: that of an address of a single
// key.
func originKey(s *script, solution *descriptor.Solution) *descriptor.DerivedKey {
	switch s.dest.Kind() {
	case book.PubKeyHash, book.WitnessKeyHash, book.Taproot:
		return solution.Key
	case book.ScriptHash:
		if descriptor.ScriptType(solution.Redeem) == "witness_v0_keyhash" {
			return solution.Key
		}
	}
	return nil
}

// keyPath prints a path from the root.
func keyPath(path []uint32) string {
	text := []byte("m")
	for _, step := range path {
		text = strconv.AppendUint(append(text, '/'), uint64(step&^hardenedBit), 10)
		if step&hardenedBit != 0 {
			text = append(text, 'h')
		}
	}
	return string(text)
}

// innermost returns the script that is run in the end.
func innermost(s *descriptor.Solution) []byte {
	if s.Witness != nil {
		return s.Witness
	}
	return s.Redeem
}

// multisig returns the number of signatures and the keys of a multisig script.
func multisig(pkScript []byte) (needed int, keys [][]byte) {
	if descriptor.ScriptType(pkScript) != "multisig" {
		return 0, nil
	}
	_, needed, err := txscript.CalcMultiSigStats(pkScript)
	if err != nil {
		return 0, nil
	}
	pushes, err := txscript.PushedData(pkScript)
	if err != nil {
		return 0, nil
	}
	for _, push := range pushes {
		if len(push) == 33 || len(push) == 65 { // the number of keys can be a push too
			keys = append(keys, push)
		}
	}
	return needed, keys
}

// outputTypes are the types of addresses by their names.
var outputTypes = map[string]walletfile.OutputType{
	"legacy":      walletfile.Legacy,
	"p2sh-segwit": walletfile.P2SHSegwit,
	"bech32":      walletfile.Bech32,
	"bech32m":     walletfile.Bech32m,
	"p2mr":        walletfile.P2MR,
}

// outputType returns the type of a name that a client gives.
//
// Errors: [*messages.WalletError].
func (w *Wallet) outputType(name string) (walletfile.OutputType, error) {
	kind, ok := outputTypes[name]
	switch net := w.params.Network; {
	case !ok, kind == walletfile.P2MR && net.Dialect != descriptor.P2MR:
		return 0, unknownType(name)
	case net.Restricted && kind != walletfile.P2MR:
		return 0, codes.Errorf(codes.AddressOrKey, "address type '%s' is not available on this chain", name)
	}
	return kind, nil
}

// nameOf returns the name of a type.
func nameOf(kind walletfile.OutputType) string {
	for name, k := range outputTypes {
		if k == kind {
			return name
		}
	}
	return "unknown"
}

// CheckTypes checks the names of types of a network; none is right too.
func CheckTypes(n *dialect.Network, t AddressTypes) error {
	known := func(name string) bool {
		kind, ok := outputTypes[name]
		return name == "" || ok && (kind != walletfile.P2MR || n.Descriptors().Dialect == descriptor.P2MR)
	}
	switch {
	case !known(t.Receive):
		return fmt.Errorf("Unknown address type '%s'", t.Receive) //nolint:staticcheck // Core's words
	case !known(t.Change):
		return fmt.Errorf("Unknown change type '%s'", t.Change) //nolint:staticcheck // Core's words
	}
	return nil
}

// chooseDefaultType settles the types of new addresses when a wallet is loaded.
func (w *Wallet) chooseDefaultType() {
	w.defaultType = walletfile.Bech32
	if w.params.Network.Restricted && w.active[walletfile.Slot{Type: walletfile.P2MR}] != nil {
		w.defaultType = walletfile.P2MR
	}
	if kind, ok := outputTypes[w.params.Types.Receive]; ok {
		w.defaultType = kind
	}
	w.changeType = w.defaultType
	if kind, ok := outputTypes[w.params.Types.Change]; ok {
		w.changeType = kind
	}
}

// defaultFor returns the type of an address for which no type was asked.
func (w *Wallet) defaultFor(change bool) walletfile.OutputType {
	if change {
		return w.changeType
	}
	return w.defaultType
}

// NewAddress gives out the next address of a type, for receiving or for change.
//
// Errors: [*messages.WalletError].
func (w *Wallet) NewAddress(r messages.NewAddress) (string, error) {
	if !w.canGetAddresses(r.Change) {
		return "", codes.Errorf(codes.Wallet, "Error: This wallet has no available keys")
	}
	if err := book.CheckLabel(r.Label); err != nil && !r.Change {
		return "", err
	}
	kind := w.defaultFor(r.Change)
	if r.HasType {
		var err error
		if kind, err = w.outputType(r.Type); err != nil {
			return "", err
		}
	}
	if w.params.Network.Restricted && kind != walletfile.P2MR {
		return "", codes.Errorf(codes.Keypool, "Output type '%s' is not available on this chain", nameOf(kind))
	}
	s := w.active[walletfile.Slot{Type: kind, Internal: r.Change}]
	if s == nil {
		return "", codes.Errorf(codes.Keypool, "Error: No %s addresses available.", nameOf(kind))
	}
	pkScript, err := w.nextScript(s)
	if err != nil {
		return "", err
	}
	if !r.Change {
		w.book.SetLabel(pkScript, r.Label, book.PurposeReceive)
	}
	address, _ := descriptor.AddressOf(pkScript, w.params.Network)
	return address, nil
}

func (w *Wallet) canGetAddresses(internal bool) bool {
	for slot, s := range w.active {
		if slot.Internal == internal && s.givesAddresses() {
			return true
		}
	}
	return false
}

// nextScript takes the next script of a descriptor.
func (w *Wallet) nextScript(s *source) ([]byte, error) {
	if !s.givesAddresses() {
		return nil, codes.Errorf(codes.Keypool, "No addresses available")
	}
	if !s.p2mr() {
		_ = w.topUp(s, 0) // a locked wallet has what was derived before
	}
	next := s.scripts[s.record.NextIndex]
	if next == nil {
		return nil, codes.Errorf(codes.Keypool, "Error: Keypool ran out, please call keypoolrefill first")
	}
	s.record.NextIndex++
	w.noteFill(s)
	w.write(s)
	w.refillSoon(s)
	return next.bytes, nil
}
