package differ_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/chaincfg"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/differ"
	"github.com/seed61375155/trawl/internal/rawtx/psbt"
)

// TestPSBTRoles has both nodes update, sign, combine, join, analyze and finalize the same packets, whose inputs spend
// outputs of descriptors of all kinds. Each node completes packets that the other has signed in part.
func TestPSBTRoles(t *testing.T) {
	p := differ.Start(t, differ.Config{})
	exceptPackets(p)
	x := &rolePlay{psbts: psbts{transactions{keys: keys{differ.Random(t)}}, p.Later}, pair: p}
	x.masters()
	complete := 0
	for left := differ.Cases(t, 60); left > 0; left-- {
		complete += x.play()
	}
	if complete < 10 {
		t.Errorf("only %d packets were completed", complete)
	}
	p.Alive()
}

// TestPSBTRolesOfAnything has both nodes work on packets whose maps hold fields of all types by chance.
func TestPSBTRolesOfAnything(t *testing.T) {
	p := differ.Start(t, differ.Config{}, finalWithoutOutput)
	exceptPackets(p)
	x := &rolePlay{psbts: psbts{transactions{keys: keys{differ.Random(t)}}, p.Later}, pair: p}
	x.masters()
	for left := differ.Cases(t, 2000); left > 0; left -= batch {
		calls := make([]differ.Call, batch)
		previous := ""
		for i := range calls {
			text := base64.StdEncoding.EncodeToString(x.make())
			calls[i] = x.role(text, previous)
			previous = text
		}
		p.Send(calls...)
	}
	p.Alive()
}

// joinedByChance is the difference between joined packets: inputs and outputs are in random order.
var joinedByChance = differ.Exception{
	Reason: "inputs and outputs of joined packets are in random order",
	Is: func(c differ.Call, got differ.Replies) bool {
		return c.Method == "joinpsbts" && got.Trawl.OK() && got.Core.OK() &&
			inOrder(got.Trawl.Result) == inOrder(got.Core.Result)
	},
}

// inOrder describes a packet whatever the order of its inputs and outputs.
func inOrder(result json.RawMessage) string {
	var text string
	if json.Unmarshal(result, &text) != nil {
		return ""
	}
	p, err := psbt.Decode(text)
	if err != nil {
		return err.Error()
	}
	var parts []string
	for i, in := range p.Tx.TxIn {
		parts = append(parts, fmt.Sprint("in", in.PreviousOutPoint, in.Sequence, p.Inputs[i]))
	}
	for i, out := range p.Tx.TxOut {
		parts = append(parts, fmt.Sprint("out", *out, p.Outputs[i]))
	}
	slices.Sort(parts)
	return fmt.Sprint(p.Tx.Version, p.Tx.LockTime, parts)
}

// rolePlay makes packets and has both nodes work on them.
type rolePlay struct {
	psbts

	pair    *differ.Pair
	private []string // extended keys
}

var regtest = descriptor.NetworkOf(&chaincfg.RegressionNetParams)

func (x *rolePlay) masters() {
	for range 6 {
		root, scalar, ok := descriptor.Master(x.bytes(32))
		if ok {
			x.private = append(x.private, string(descriptor.EncodeXPrv(root, &scalar, regtest)))
		}
	}
}

// role is a call of any role with a packet that may be anything.
func (x *rolePlay) role(text, other string) differ.Call {
	switch x.IntN(8) {
	case 0:
		return differ.Call{Method: "finalizepsbt", Params: []any{text, x.IntN(2) == 0}}
	case 1:
		return differ.Call{Method: "combinepsbt", Params: []any{[]string{text, text}}}
	case 2:
		return differ.Call{Method: "joinpsbts", Params: []any{[]string{text, other}}}
	case 3:
		return differ.Call{Method: "utxoupdatepsbt", Params: []any{text}}
	case 4:
		list := []any{map[string]any{"desc": x.spendable(), "range": 2}}
		return differ.Call{Method: "descriptorprocesspsbt", Params: []any{text, list, "ALL"}}
	default:
		return differ.Call{Method: "analyzepsbt", Params: []any{text}}
	}
}

// key is a private key expression of the play.
func (x *rolePlay) key() string {
	if x.IntN(5) == 0 {
		return x.wif()
	}
	path := [...]string{"", "/0", "/1h", "/7/3", "/5'"}[x.IntN(5)]
	return x.private[x.IntN(len(x.private))] + path + [...]string{"", "/*", "/*"}[x.IntN(3)]
}

func (x *rolePlay) keys(least int) string {
	var list []string
	for range least + x.IntN(3) {
		list = append(list, x.key())
	}
	return strings.Join(list, ",")
}

var preimage = bytes.Repeat([]byte{7}, 32)

// spendable is a descriptor with private keys.
func (x *rolePlay) spendable() string {
	hash := sha256.Sum256(preimage)
	digest := hex.EncodeToString(hash[:])
	lock := 1 + x.IntN(20)
	switch x.IntN(18) {
	case 0:
		return "pkh(" + x.key() + ")"
	case 1:
		return "wpkh(" + x.key() + ")"
	case 2:
		return "sh(wpkh(" + x.key() + "))"
	case 3:
		return "pk(" + x.key() + ")"
	case 4:
		return "tr(" + x.key() + ")"
	case 5:
		return fmt.Sprintf("tr(%s,pk(%s))", x.key(), x.key())
	case 6:
		return fmt.Sprintf("tr(%s,{pk(%s),multi_a(2,%s)})", x.extendedPublic(), x.key(), x.keys(2))
	case 7:
		return fmt.Sprintf("tr(%s,{and_v(v:pk(%s),older(%d)),{pkh(%s),and_v(v:pk(%s),sha256(%s))}})",
			x.extendedPublic(), x.key(), lock, x.key(), x.key(), digest)
	case 8:
		return "wsh(multi(2," + x.keys(2) + "))"
	case 9:
		return "sh(multi(1," + x.keys(1) + "))"
	case 10:
		return "sh(wsh(sortedmulti(2," + x.keys(2) + ")))"
	case 11:
		return fmt.Sprintf("wsh(and_v(v:pk(%s),older(%d)))", x.key(), lock)
	case 12:
		return fmt.Sprintf("wsh(or_d(pk(%s),and_v(v:pkh(%s),after(%d))))", x.key(), x.key(), lock)
	case 13:
		return fmt.Sprintf("wsh(thresh(2,pk(%s),s:pk(%s),sln:older(%d)))", x.key(), x.key(), lock)
	case 14:
		return fmt.Sprintf("sh(wsh(and_v(v:pk(%s),sha256(%s))))", x.key(), digest)
	case 15:
		return "combo(" + x.key() + ")"
	case 16:
		return "rawtr(" + x.key() + ")"
	default:
		return fmt.Sprintf("tr(musig(%s,%s)/0/*)", x.private[x.IntN(len(x.private))], x.private[x.IntN(len(x.private))])
	}
}

// extendedPublic is a public key expression of which nobody has the private key.
func (x *rolePlay) extendedPublic() string {
	if x.IntN(2) == 0 {
		return "50929b74c1a04954b78b4b6035e97a5e078a5a0f28ec96d547bfee9ace803ac0"
	}
	return x.key()
}

// spent is an output that a packet spends.
type spent struct {
	text string // of its descriptor
	out  *wire.TxOut
}

// outputOf returns an output of a descriptor. It is false where it has none.
func (x *rolePlay) outputOf(text string) (spent, bool) {
	branches, err := descriptor.Parse(text, regtest, descriptor.Options{})
	if err != nil {
		return spent{}, false
	}
	scripts, err := branches[0].Expand(uint32(x.IntN(3)))
	if err != nil || !branches[0].IsRanged() && len(scripts) == 0 {
		return spent{}, false
	}
	return spent{text, &wire.TxOut{Value: int64(x.IntN(1e9)), PkScript: scripts[x.IntN(len(scripts))]}}, true
}

// play makes a packet and has it worked on. It returns 1 where the end is a transaction.
func (x *rolePlay) play() int {
	packet, all := x.packet()
	if packet == nil {
		return 0
	}
	texts := []string{packet.Encode()}
	for _, part := range [][]spent{all, all, all[:x.IntN(len(all)+1)]} {
		from := texts[x.IntN(len(texts))]
		x.look(from)
		texts = append(texts, x.results(x.process(from, part))...)
	}
	got := x.pair.Send(differ.Call{Method: "combinepsbt", Params: []any{texts}})
	combined := x.results(got)
	if len(combined) == 0 {
		combined = texts[len(texts)-1:]
	}
	x.look(combined[0])
	x.pair.Send(differ.Call{Method: "joinpsbts", Params: []any{x.some(texts)}})
	got = x.pair.Send(
		differ.Call{Method: "finalizepsbt", Params: []any{combined[0], false}},
		differ.Call{Method: "finalizepsbt", Params: []any{combined[0]}},
	)
	var end struct{ Complete bool }
	_ = json.Unmarshal(got[1].Core.Result, &end)
	if end.Complete {
		return 1
	}
	return 0
}

// some is two of the texts, or three.
func (x *rolePlay) some(texts []string) []string {
	list := make([]string, 2+x.IntN(2))
	for i := range list {
		list[i] = texts[x.IntN(len(texts))]
	}
	if x.IntN(2) == 0 {
		if other, _ := x.packet(); other != nil {
			list[0] = other.Encode()
		}
	}
	return list
}

// look has both analyze and decode a packet.
func (x *rolePlay) look(text string) {
	x.pair.Send(
		differ.Call{Method: "analyzepsbt", Params: []any{text}},
		differ.Call{Method: "decodepsbt", Params: []any{text}},
	)
}

// process has both update or sign a packet with descriptors of the spent outputs.
func (x *rolePlay) process(text string, of []spent) []differ.Replies {
	var list []any
	for _, s := range of {
		desc := s.text
		if x.IntN(3) == 0 {
			desc = publicText(desc)
		}
		if x.IntN(5) > 0 {
			list = append(list, map[string]any{"desc": desc, "range": 1 + x.IntN(3)})
		} else if !strings.Contains(desc, "*") {
			list = append(list, desc)
		}
	}
	if list == nil {
		list = []any{}
	}
	if x.IntN(3) == 0 {
		return x.pair.Send(differ.Call{Method: "utxoupdatepsbt", Params: []any{text, list}})
	}
	params := []any{text, list}
	types := []any{nil, nil, nil, "ALL", "DEFAULT", "SINGLE|ANYONECANPAY", "NONE", "bad"}
	params = append(params, types[x.IntN(len(types))], x.IntN(4) > 0, x.IntN(2) == 0)
	return x.pair.Send(differ.Call{Method: "descriptorprocesspsbt", Params: params})
}

// publicText is a descriptor without private keys.
func publicText(text string) string {
	branches, err := descriptor.Parse(text, regtest, descriptor.Options{})
	if err != nil {
		return text
	}
	return branches[0].String()
}

// results are the packets of replies that both agree about.
func (x *rolePlay) results(got []differ.Replies) []string {
	var texts []string
	for _, r := range got {
		var text string
		var processed struct{ PSBT string }
		switch {
		case !r.Core.OK():
		case json.Unmarshal(r.Core.Result, &text) == nil:
			texts = append(texts, text)
		case json.Unmarshal(r.Core.Result, &processed) == nil && processed.PSBT != "":
			texts = append(texts, processed.PSBT)
		}
	}
	return texts
}

// packet makes a packet whose inputs spend outputs of descriptors, and adds some of the fields that an updater would
// add.
func (x *rolePlay) packet() (*psbt.Packet, []spent) {
	var all []spent
	for len(all) < 1+x.IntN(3) {
		if s, ok := x.outputOf(x.spendable()); ok {
			all = append(all, s)
		}
	}
	tx := wire.NewMsgTx(int32(1 + x.IntN(2)))
	tx.LockTime = uint32(x.IntN(30))
	previous := make([]*wire.MsgTx, len(all))
	for i, s := range all {
		previous[i] = wire.NewMsgTx(2)
		previous[i].AddTxIn(wire.NewTxIn(&wire.OutPoint{Hash: [32]byte(x.bytes(32))}, nil, wire.TxWitness{{1}}))
		previous[i].AddTxOut(s.out)
		at := wire.OutPoint{Hash: previous[i].TxHash()}
		in := wire.NewTxIn(&at, nil, nil)
		in.Sequence = [...]uint32{wire.MaxTxInSequenceNum, 0, 5, 30, 1<<22 | 9}[x.IntN(5)]
		tx.AddTxIn(in)
	}
	for range x.IntN(3) {
		if s, ok := x.outputOf(x.spendable()); ok {
			tx.AddTxOut(s.out)
			all = append(all, s)
		}
	}
	version := uint32(0)
	if x.later {
		version = uint32(x.IntN(2) * 2)
	}
	p := psbt.New(tx, version)
	for i := range p.Inputs {
		x.describe(&p.Inputs[i], previous[i])
	}
	if version == 2 {
		x.describeV2(p)
	}
	return p, all
}

// describe tells of an input what an updater or a creator would.
func (x *rolePlay) describe(in *psbt.Map, previous *wire.MsgTx) {
	if x.IntN(12) > 0 {
		in.PutOutput(psbt.WitnessUTXO, previous.TxOut[0])
	}
	if x.IntN(3) > 0 {
		in.Put(psbt.NonWitnessUTXO, nil, psbt.Serialize(previous, true))
	}
	hash := sha256.Sum256(preimage)
	if x.IntN(3) == 0 {
		in.Put(psbt.Sha256, hash[:], preimage)
	}
	if x.IntN(20) == 0 {
		in.Put(psbt.SigHash, nil, binary.LittleEndian.AppendUint32(nil, uint32(x.IntN(4))))
	}
	if x.IntN(20) == 0 {
		in.Put(psbt.Proprietary, []byte{2, 'x', 'y', byte(x.IntN(3))}, x.bytes(3))
	}
	if x.IntN(20) == 0 {
		in.Put(psbt.MusigParticipants, x.compressed(), append(x.compressed(), x.compressed()...))
	}
	*in = slices.Collect(maps.Values(byKeys(*in)))
}

// byKeys brings the fields of a map into an order by chance.
func byKeys(m psbt.Map) map[string]psbt.Entry {
	mixed := make(map[string]psbt.Entry, len(m))
	for _, e := range m {
		mixed[string(e.Key)] = e
	}
	return mixed
}
