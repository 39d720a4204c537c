package main

import "github.com/seed61375155/trawl/internal/jsontree"

// walletNotSpecified is the code of a wallet method called without a wallet.
const walletNotSpecified = -19

// walletAdvice follows such an error. cli is what the client is called.
func walletAdvice(cli string) string {
	return ` Or for the CLI, specify the "-rpcwallet=<walletname>" option before the command` +
		` (run "` + cli + ` -h" for help or "` + cli + ` listwallets" to see which wallets are currently loaded).`
}

// refusal is an error that the server answered with.
type refusal struct {
	text string // what to print
	code int64
}

func (r *refusal) Error() string { return r.text }

// advised is the text, with advice for the user where there is any. cli is the name of the client.
func (r *refusal) advised(cli string) string {
	if r.code == walletNotSpecified {
		return r.text + walletAdvice(cli)
	}
	return r.text
}

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
	return &refusal{text, int64(code)}
}
