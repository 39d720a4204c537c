package device

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

const (
	// maxOutput is how many bytes the program may write, of each kind.
	maxOutput = 1 << 20

	// waitDelay is how long what the program has started may keep its output open.
	waitDelay = time.Second
)

var (
	errOutput  = errors.New("signer wrote more than 1 MiB")
	errTimeout = errors.New("signer did not answer in time")
)

// run starts the program with some arguments and something to read, and returns the
// JSON text in the first line that it writes.
func (p *Program) run(ctx context.Context, input string, args ...string) (json.RawMessage, error) {
	timeout := p.Timeout
	if timeout <= 0 {
		timeout = DefaultTimeout
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	timer := time.AfterFunc(timeout, func() { cancel(errTimeout) })
	defer timer.Stop()
	words := append(wordsOf(p.Command), args...)
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	inGroup(cmd)
	cmd.WaitDelay = waitDelay
	cmd.Stdin = strings.NewReader(input)
	out, failure := &output{cancel: cancel}, &output{cancel: cancel}
	cmd.Stdout, cmd.Stderr = out, failure
	if err := cmd.Start(); err != nil {
		return nil, startError(err)
	}
	err := cmd.Wait()
	_ = cmd.Cancel() // what it has started and left behind
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		const text = "RunCommandParseJSON error: process(%s) returned %d: %s\n" // Core's words
		why := fmt.Sprintf(text, strings.Join(words, " "), exitNumber(exit), firstLine(failure.text.Bytes()))
		return nil, errors.New(why)
	case err != nil && !errors.Is(err, exec.ErrWaitDelay) && !errors.Is(err, syscall.EPIPE):
		return nil, err
	}
	line := firstLine(out.text.Bytes())
	if !json.Valid(line) {
		return nil, fmt.Errorf("Unable to parse JSON: %s", line) //nolint:staticcheck // Core's words
	}
	return json.RawMessage(line), nil
}

// wordsOf splits a command as Core does: two spaces have an empty word between them.
func wordsOf(command string) []string {
	return strings.Split(strings.ReplaceAll(command, "\t", " "), " ")
}

func firstLine(text []byte) []byte {
	line, _, _ := bytes.Cut(text, []byte("\n"))
	return line
}

// startError says in Core's words why a program was not started.
func startError(err error) error {
	var number syscall.Errno
	switch {
	case errors.As(err, &number):
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, fs.ErrNotExist):
		number = syscall.ENOENT
	default:
		return err
	}
	reason := number.Error()
	if reason != "" {
		reason = strings.ToUpper(reason[:1]) + reason[1:]
	}
	return fmt.Errorf("execve failed: %s (%d)", reason, int(number))
}

// output is what a program writes, up to a bound.
type output struct {
	text   bytes.Buffer
	cancel context.CancelCauseFunc
}

// Write implements io.Writer. Output beyond the bound ends the program.
func (o *output) Write(b []byte) (int, error) {
	if o.text.Len()+len(b) > maxOutput {
		o.cancel(errOutput)
		return 0, errOutput
	}
	return o.text.Write(b)
}
