package main

import "github.com/seed61375155/trawl/internal/jsontree"

// walletNotSpecified is the code of a wallet method called without a wallet.
const walletNotSpecified = -19

const walletAdvice = ` Or for the CLI, specify the "-rpcwallet=<walletname>" option before the command` +
	` (run "trawl-cli -h" for help or "trawl-cli listwallets" to see which wallets are currently loaded).`

// refusal is an error that the server answered with.
type refusal struct {
	text string // what to print
	code int64
}

func (r *refusal) Error() string { return r.text }

// status is the exit status: it has 8 bits.
func (r *refusal) status() int {
	code := r.code
	if code < 0 {
		code = -code
	}
	return int(code & 0xff)
}

// newRefusal reads the error member of a reply.
func newRefusal(failure *jsontree.Value) error {
	number, message := failure.Get("code"), failure.Get("message")
	code, err := number.AsInt32()
	if err != nil {
		return err
	}
	text := "error code: " + number.Text() + "\n"
	if message.Kind() == jsontree.String {
		text += "error message:\n" + message.Text()
	}
	if code == walletNotSpecified {
		text += walletAdvice
	}
	return &refusal{text, int64(code)}
}
