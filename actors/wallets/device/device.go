// Package device runs the program that speaks to a signing device, such as HWI. The
// program lists the descriptors of the device, has it show addresses, and has it
// sign. The conversation is Bitcoin Core's.
//
// The program is started without a shell, in a process group of its own. Each word is one
// argument, whatever is in it. Its output is bounded. The group is killed when the
// context ends or the time is over; what is left of the group is killed when the program
// has ended. The package knows no actors: its functions block.
//
// Source: Bitcoin Core v30, external_signer.cpp, common/run_command.cpp.
package device

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/seed61375155/trawl/messages"
)

// DefaultTimeout is how long the program may take: people press buttons meanwhile.
const DefaultTimeout = 5 * time.Minute

// A NotFoundError says why there is no device to speak to, in Core's words.
type NotFoundError string

// Error returns Core's words.
func (e NotFoundError) Error() string { return string(e) }

// A Program speaks to devices.
type Program struct {
	Command string        // words between single spaces or tabs, as -signer has them; empty: there is none
	Chain   string        // main, test, testnet4, signet or regtest
	Timeout time.Duration // of each start; 0: DefaultTimeout
	Daemon  string        // that texts have the operator restart; empty: bitcoind

	// FirstDevices ends the list before a device that was listed already, and takes any text for a fingerprint.
	FirstDevices bool
}

// On returns the program for devices of a chain. daemon is what the node's program is called in texts.
func (p *Program) On(chain, daemon string) *Program {
	on := *p
	on.Chain, on.Daemon = chain, daemon
	return &on
}

// A Device is a signing device that the program has found.
type Device struct {
	Fingerprint string // of its master key
	Name        string

	program *Program
}

// Enumerate returns the devices that are there.
//
// Errors: texts of Core's.
func (p *Program) Enumerate(ctx context.Context) ([]Device, error) {
	raw, err := p.run(ctx, "", "enumerate")
	if err != nil {
		return nil, err
	}
	return p.devicesOf(raw)
}

func (p *Program) devicesOf(raw []byte) ([]Device, error) {
	var list []json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil || !isArray(raw) {
		return nil, fmt.Errorf("'%s' received invalid response, expected array of signers", p.Command)
	}
	var devices []Device
	for _, raw := range list {
		d, err := p.deviceOf(raw)
		if err != nil {
			return nil, err
		}
		listed := slices.ContainsFunc(devices, func(other Device) bool { return other.Fingerprint == d.Fingerprint })
		switch {
		case listed && p.FirstDevices:
			return devices, nil
		case !listed:
			devices = append(devices, d)
		}
	}
	return devices, nil
}

func isArray(raw []byte) bool { return bytes.HasPrefix(bytes.TrimSpace(raw), []byte("[")) }

func (p *Program) deviceOf(raw []byte) (Device, error) {
	var fields map[string]any
	_ = json.Unmarshal(raw, &fields) // what is no object has no fields
	if failed := fields["error"]; failed != nil {
		text, ok := failed.(string)
		if !ok {
			return Device{}, fmt.Errorf("'%s' error", p.Command)
		}
		return Device{}, fmt.Errorf("'%s' error: %s", p.Command, text)
	}
	fingerprint, ok := fields["fingerprint"].(string)
	if !ok {
		return Device{}, fmt.Errorf("'%s' received invalid response, missing signer fingerprint", p.Command)
	}
	if raw, err := hex.DecodeString(fingerprint); (err != nil || len(raw) != 4) && !p.FirstDevices {
		return Device{}, fmt.Errorf("'%s' received invalid fingerprint, must be 8 hex characters", p.Command)
	}
	name, _ := fields["model"].(string)
	return Device{Fingerprint: fingerprint, Name: name, program: p}, nil
}

// Signers returns the devices for clients, in words of Core's where there is no program.
func (p *Program) Signers(ctx context.Context) ([]messages.Signer, error) {
	if p.Command == "" {
		return nil, NotFoundError("Error: " + p.restart())
	}
	found, err := p.Enumerate(ctx)
	signers := make([]messages.Signer, len(found))
	for i, d := range found {
		signers[i] = messages.Signer{Fingerprint: d.Fingerprint, Name: d.Name}
	}
	return signers, err
}

// restart says how the node gets a program.
func (p *Program) restart() string {
	daemon := "bitcoind"
	if p != nil && p.Daemon != "" {
		daemon = p.Daemon
	}
	return "restart " + daemon + " with -signer=<cmd>"
}

// Find returns the only device that is there.
//
// Errors: NotFoundError, those of Enumerate.
func (p *Program) Find(ctx context.Context) (*Device, error) {
	if p == nil || p.Command == "" {
		return nil, NotFoundError(p.restart())
	}
	devices, err := p.Enumerate(ctx)
	switch {
	case err != nil:
		return nil, err
	case len(devices) == 0:
		return nil, NotFoundError("No external signers found")
	case len(devices) > 1:
		return nil, NotFoundError("More than one external signer found. Please connect only one at a time.")
	}
	return &devices[0], nil
}

// call runs the program for this device.
func (d *Device) call(ctx context.Context, args ...string) ([]byte, error) {
	return d.program.run(ctx, "", append(d.flags(), args...)...)
}

func (d *Device) flags() []string {
	return []string{"--fingerprint", d.Fingerprint, "--chain", d.program.Chain}
}

// fieldsOf returns the fields of a JSON object; nil for anything else.
func fieldsOf(raw []byte) (fields map[string]any) {
	_ = json.Unmarshal(raw, &fields)
	return fields
}

// Display has the device show the address of a descriptor, and returns the address that
// it shows.
//
// Errors: texts of Core's.
func (d *Device) Display(ctx context.Context, descriptor string) (string, error) {
	raw, err := d.call(ctx, "displayaddress", "--desc", descriptor)
	if err != nil {
		return "", err
	}
	return addressOf(raw)
}

func addressOf(raw []byte) (string, error) {
	fields := fieldsOf(raw)
	if failed, ok := fields["error"].(string); ok {
		return "", fmt.Errorf("Signer returned error: %s", failed) //nolint:staticcheck // Core's words
	}
	address, ok := fields["address"].(string)
	if !ok {
		return "", errors.New("Signer did not echo address") //nolint:staticcheck // Core's words
	}
	return address, nil
}

// Descriptors returns the texts of the descriptors of an account, for receiving and for
// change.
//
// Errors: texts of Core's.
func (d *Device) Descriptors(ctx context.Context, account int) (receive, change []string, err error) {
	raw, err := d.call(ctx, "getdescriptors", "--account", strconv.Itoa(account))
	if err != nil {
		return nil, nil, err
	}
	return descriptorsOf(raw)
}

func descriptorsOf(raw []byte) (receive, change []string, err error) {
	fields := fieldsOf(raw)
	for _, of := range []struct {
		name string
		to   *[]string
	}{{"receive", &receive}, {"internal", &change}} {
		list, ok := fields[of.name].([]any)
		if !ok {
			return nil, nil, errors.New("SetupDescriptorScriptPubKeyMans: Unexpected result")
		}
		for _, value := range list {
			text, _ := value.(string)
			*of.to = append(*of.to, text)
		}
	}
	return receive, change, nil
}

// A RefusalError says that the device has not signed, and why.
type RefusalError string

// Error returns the reason.
func (e RefusalError) Error() string { return string(e) }

// Sign has the device sign a partially signed transaction in base64, and returns the
// packet that the device answers.
//
// Errors: RefusalError, texts of Core's.
func (d *Device) Sign(ctx context.Context, packet string) (string, error) {
	raw, err := d.program.run(ctx, "signtx "+packet, append([]string{"--stdin"}, d.flags()...)...)
	if err != nil {
		return "", err
	}
	return packetOf(raw)
}

func packetOf(raw []byte) (string, error) {
	fields := fieldsOf(raw)
	if failed, ok := fields["error"].(string); ok {
		return "", RefusalError(failed)
	}
	signed, ok := fields["psbt"].(string)
	if !ok {
		return "", RefusalError("Unexpected result from signer")
	}
	return signed, nil
}
