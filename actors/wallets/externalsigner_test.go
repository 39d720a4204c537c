package wallets_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/actors/wallets"
	"github.com/seed61375155/trawl/actors/wallets/device"
	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/rawtx"
	"github.com/seed61375155/trawl/internal/rawtx/psbt"
	"github.com/seed61375155/trawl/messages"
)

// A signingDevice is a program that answers from files: what it says to each call lies in a file by its name, and
// how it signs is a script.
type signingDevice struct {
	*rig

	program *device.Program
	files   string
}

// newSigningDevice makes a wallet "w" whose keys are those of a wallet "keys", and a device that has them.
func newSigningDevice(t *testing.T) *signingDevice {
	t.Helper()
	files := t.TempDir()
	d := &signingDevice{files: files, program: &device.Program{
		Command: filepath.Join(files, "program"), Chain: "regtest", Timeout: time.Minute,
	}}
	d.says(t, "program", "#!/bin/sh\ncd '"+files+"'\ncase \"$*\" in\n*--stdin*) cat >input; . ./sign;;\n"+
		"*getdescriptors*) cat descriptors;;\n*displayaddress*) cat address;;\n*) cat devices;;\nesac\n")
	d.rig = small(t, setup{signer: d.program, keyPool: 3, pool: emptyPool})
	do(t, d.ref, messages.CreateWallet{Name: "keys"})
	var fingerprint string
	lists := map[bool][]string{}
	for _, known := range do(t, d.wallet(t, "keys"), messages.ListDescriptors{}) {
		text := string(known.Desc)
		lists[known.Internal] = append(lists[known.Internal], strconv.Quote(text))
		fingerprint = regexp.MustCompile(`\[([0-9a-f]{8})/`).FindStringSubmatch(text)[1]
	}
	d.says(t, "devices", `[{"fingerprint": "`+fingerprint+`", "model": "m"}]`)
	d.says(t, "descriptors", `{"receive": [`+strings.Join(lists[false], ",")+
		`], "internal": [`+strings.Join(lists[true], ",")+`]}`)
	do(t, d.ref, messages.CreateWallet{Name: "w", DisablePrivateKeys: true, ExternalSigner: true})
	return d
}

func (d *signingDevice) says(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(d.files, file), []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
}

// packet returns a packet that spends a coin of the wallet, and the coin.
func (d *signingDevice) packet(t *testing.T) (string, *wire.TxOut) {
	t.Helper()
	script := scriptOf(t, do(t, d.wallet(t, "w"), messages.NewAddress{Type: "bech32"}))
	coin := payment(script, 1)
	d.changes.Publish(messages.PoolChanged{Changes: []messages.PoolChange{{Tx: coin, Added: true}}})
	do(t, d.ref, messages.SyncWallets{})
	tx := wire.NewMsgTx(2)
	tx.AddTxIn(wire.NewTxIn(&wire.OutPoint{Hash: coin.TxHash()}, nil, nil))
	tx.AddTxOut(wire.NewTxOut(90_000, foreign))
	return psbt.New(tx, 0).Encode(), coin.TxOut[0]
}

// A wrong answer of the device is an error in the reference's words. The wallet signs when the device does.
func TestOutsideAnswers(t *testing.T) {
	d := newSigningDevice(t)
	ref := d.wallet(t, "w")
	packet, coin := d.packet(t)
	devices, err := os.ReadFile(filepath.Join(d.files, "devices"))
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		devices, sign string
		code          int
		text          string
	}{
		"it refuses":      {"", `echo '{"error": "no"}'`, -25, "External signer failed to sign"},
		"no packet":       {"", `echo '{"signed": true}'`, -25, "External signer failed to sign"},
		"no base64":       {"", `echo '{"psbt": "?"}'`, -25, "External signer failed to sign"},
		"half a packet":   {"", `echo '{"psbt": "cHNidP8="}'`, -25, "External signer failed to sign"},
		"no JSON":         {"", `echo hello`, -1, "Unable to parse JSON: hello"},
		"nothing":         {"", `:`, -1, "Unable to parse JSON: "},
		"it fails":        {"", `echo broken >&2; exit 3`, -1, "returned 3: broken\n"},
		"it is killed":    {"", `kill -9 $$`, -1, "returned 9: \n"},
		"too much":        {"", `head -c 2000000 /dev/zero`, -1, "signer wrote more than 1 MiB"},
		"no device":       {`[]`, "", -25, "External signer not found"},
		"two devices":     {`[{"fingerprint": "00000001"}, {"fingerprint": "00000002"}]`, "", -25, "External signer not found"},
		"another device":  {`[{"fingerprint": "00000001"}]`, "", -25, "External signer failed to sign"},
		"devices unnamed": {`[{}]`, "", -1, "received invalid response, missing signer fingerprint"},
	} {
		list := test.devices
		if list == "" {
			list = string(devices)
		}
		d.says(t, "devices", list)
		d.says(t, "sign", test.sign+"\n")
		_, err := try(t, ref, messages.FillPacket{PSBT: packet, Sign: true, Finalize: true})
		var refused *messages.WalletError
		if !errors.As(err, &refused) || refused.Code != test.code || !strings.HasSuffix(refused.Text, test.text) {
			t.Errorf("%s: got %v, want %d %s", name, err, test.code, test.text)
		}
	}
	d.says(t, "devices", string(devices))
	d.says(t, "sign", "exec sleep 300\n")
	d.program.Timeout = 50 * time.Millisecond
	_, err = try(t, ref, messages.FillPacket{PSBT: packet, Sign: true, Finalize: true})
	refusal(t, err, -1, "signer did not answer in time")
	d.program.Timeout = time.Minute
	d.says(t, "sign", `echo '{"psbt": "`+packet+`"}'`+"\n")
	if got := do(t, ref, messages.FillPacket{PSBT: packet, Sign: true, Finalize: true}); got.Complete || got.Tx != nil {
		t.Errorf("it has not signed: %+v", got)
	}
	signed := do(t, d.wallet(t, "keys"), messages.FillPacket{PSBT: packet, Sign: true})
	d.says(t, "sign", `echo '{"psbt": "`+signed.PSBT+`"}'`+"\n")
	got := do(t, ref, messages.FillPacket{PSBT: packet, Sign: true, Finalize: true})
	if !got.Complete {
		t.Fatalf("it has signed: %+v", got)
	}
	if err := rawtx.Verify(got.Tx, []*wire.TxOut{coin}); err != nil {
		t.Error(err)
	}
}

// unsigned is a script of a device that answers what it was asked to sign.
const unsigned = `echo '{"psbt": "'$(cut -d' ' -f2 input)'"}'` + "\n"

// A device is asked to sign a payment once, whether it signs or not.
func TestOutsidePays(t *testing.T) {
	d := newSigningDevice(t)
	ref := d.wallet(t, "w")
	d.packet(t)
	q := pay(10_000_000)
	q.Sign, q.Send = messages.SignSome, false
	d.says(t, "sign", "echo >>asked; "+unsigned)
	for n, packets := range []bool{true, false} {
		q.Send = !packets
		got := do(t, ref, q)
		p, err := psbt.Decode(got.PSBT)
		if err != nil || got.Complete || got.Sent || p.Tx.TxHash() != got.TxID {
			t.Errorf("got %+v, %v", got, err)
		}
		if asked, err := os.ReadFile(filepath.Join(d.files, "asked")); err != nil || len(asked) != n+1 {
			t.Errorf("asked %d times, want %d", len(asked), n+1)
		}
	}
}

// A transaction that a device has signed is not sent if it makes another payment than the wallet was told, even if
// the signatures are right.
func TestOutsideSwaps(t *testing.T) {
	d := newSigningDevice(t)
	ref := d.wallet(t, "w")
	packet, _ := d.packet(t)
	signed := do(t, d.wallet(t, "keys"), messages.FillPacket{PSBT: packet, Sign: true, Finalize: true})
	if !signed.Complete {
		t.Fatal("the packet cannot be signed")
	}
	d.says(t, "sign", `echo '{"psbt": "`+signed.PSBT+`"}'`+"\n")
	q := pay(10_000_000)
	q.Sign = messages.SignSome
	_, err := try(t, ref, q)
	refusal(t, err, -25, "External signer failed to sign")
	if got := do(t, ref, messages.GetWalletInfo{}); got.TxCount != 1 {
		t.Errorf("%d transactions, want the payment in alone", got.TxCount)
	}
}

// An address is shown if the device shows the same.
func TestOutsideShows(t *testing.T) {
	d := newSigningDevice(t)
	ref := d.wallet(t, "w")
	address := do(t, ref, messages.NewAddress{Type: "bech32"})
	for says, want := range map[string]string{
		`{"address": "` + address + `"}`: "", `{"address": "x"}`: "Signer echoed unexpected address x",
		`{"error": "no"}`: "Signer returned error: no", `{}`: "Signer did not echo address",
		`[`: "Unable to parse JSON: [",
	} {
		d.says(t, "address", says)
		_, err := try(t, ref, messages.DisplayAddress{Script: scriptOf(t, address)})
		if want == "" && err != nil {
			t.Errorf("%s: %v", says, err)
		}
		if want != "" {
			refusal(t, err, -1, want)
		}
	}
}

// A wallet that is unloaded while a device signs ends the program, and answers its caller.
func TestOutsideStops(t *testing.T) {
	d := newSigningDevice(t)
	packet, _ := d.packet(t)
	d.says(t, "sign", "echo $$ >id; mv id started; exec sleep 300\n")
	ref, answered := d.wallet(t, "w"), make(chan error)
	go func() {
		_, err := ask.Ask(context.Background(), ref, messages.FillPacket{PSBT: packet, Sign: true})
		answered <- err
	}()
	var id int
	for deadline := time.Now().Add(time.Minute); id == 0; {
		if time.Now().After(deadline) {
			t.Fatal("the program does not start")
		}
		text, _ := os.ReadFile(filepath.Join(d.files, "started"))
		id, _ = strconv.Atoi(strings.TrimSpace(string(text)))
		time.Sleep(time.Millisecond)
	}
	do(t, d.ref, messages.UnloadWallet{Name: "w"})
	if err := <-answered; err == nil {
		t.Error("signed by a device that has not")
	}
	for deadline := time.Now().Add(time.Minute); !errors.Is(syscall.Kill(id, 0), syscall.ESRCH); {
		if time.Now().After(deadline) {
			t.Fatal("the program runs on")
		}
		time.Sleep(time.Millisecond)
	}
	do(t, d.ref, messages.LoadWallet{Name: "w"})
	do(t, d.wallet(t, "w"), messages.NewAddress{Type: "bech32"})
}

// The tests of every actor: a wallet whose device refuses what it is asked.
func TestOutsideSuite(t *testing.T) {
	actortest.Suite(t, func(t *testing.T) *actortest.Subject {
		t.Helper()
		d := newSigningDevice(t)
		packet, _ := d.packet(t)
		d.says(t, "sign", `echo '{"error": "no"}'`+"\n")
		address := do(t, d.wallet(t, "w"), messages.NewAddress{Type: "bech32", Label: "kept"})
		d.says(t, "address", `{"address": "`+address+`"}`)
		script := scriptOf(t, address)
		return &actortest.Subject{
			Ref: d.wallet(t, "w"), Served: wallets.WalletRequests,
			Check: func() {
				do(t, d.ref, messages.SyncWallets{})
				if d.directory.Lookup("w") == nil {
					do(t, d.ref, messages.LoadWallet{Name: "w"})
				}
				do(t, d.wallet(t, "w"), messages.DisplayAddress{Script: script})
			},
			Requests: []actortest.Request{
				actortest.Sample(messages.FillPacket{PSBT: packet, Sign: true}),
				actortest.Sample(messages.DisplayAddress{Script: script}),
			},
		}
	})
}
