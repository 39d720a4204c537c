package main

import (
	"bufio"
	"encoding/csv"
	"fmt"
	"io"
	"strconv"

	"github.com/seed61375155/trawl/internal/options"
	api "github.com/seed61375155/trawl/rpc/client"
)

// An entryWriter writes the entries of a search, each on a line. flush returns the errors of
// writing.
type entryWriter interface {
	write(e *api.Entry)
	flush() error
}

// newEntryWriter returns the writer that the options ask for.
func newEntryWriter(s *options.Settings, w io.Writer) entryWriter {
	switch {
	case s.Bool("csv", false):
		t := &rows{csv.NewWriter(w)}
		_ = t.w.Write(columns) // an error stays until flush
		return t
	case s.Bool("json", false):
		return &lines{bufio.NewWriter(w), appendJSON}
	default:
		return &lines{bufio.NewWriter(w), appendText}
	}
}

// lines are texts.
type lines struct {
	w        *bufio.Writer
	appender func(dst []byte, e *api.Entry) []byte
}

func (l *lines) write(e *api.Entry) {
	_, _ = l.w.Write(append(l.appender(l.w.AvailableBuffer(), e), '\n')) // an error stays until flush
}

func (l *lines) flush() error { return l.w.Flush() }

// appendJSON appends an entry as the node wrote it.
func appendJSON(dst []byte, e *api.Entry) []byte { return append(dst, e.Text...) }

// appendText appends an entry for people: height, type, amount, whose output, and where it is.
func appendText(dst []byte, e *api.Entry) []byte {
	height := "-"
	if e.BlockHash != "" {
		height = strconv.Itoa(int(e.Height))
	}
	switch e.Type {
	case api.Receive:
		amount, whose := "+"+e.Amount.String(), owner(e.Output)
		return fmt.Appendf(dst, "%8s  receive  %17s  %s  in %s:%d", height, amount, whose, e.TxID, e.Vout)
	case api.Spend:
		amount, whose := "-"+e.Amount.String(), owner(e.Prevout)
		return fmt.Appendf(dst, "%8s  spend    %17s  %s  by %s:%d", height, amount, whose, e.SpendTxID, e.SpendVin)
	case api.Disconnect:
		return fmt.Appendf(dst, "%8s  the block left the chain, and what it has with it  %s", height, e.BlockHash)
	default:
		return fmt.Appendf(dst, "%8s  %s  %s", height, e.Type, e.BlockHash)
	}
}

// owner is the address of an output, or its script where it has none.
func owner(s *api.Script) string {
	switch {
	case s == nil:
		return "-"
	case s.Address != "":
		return s.Address
	default:
		return s.Hex
	}
}

// columns are the names of the columns of a table. txid and vout are of the output, spent_by
// and its input of the transaction that spends it. A value that an entry does not have is
// empty.
var columns = []string{
	"type", "height", "blockhash", "time", "amount", "txid", "vout", "spent_by", "input",
	"address", "script", "descriptor", "index",
}

// rows write comma-separated values with a first line that names them.
type rows struct{ w *csv.Writer }

func (t *rows) write(e *api.Entry) {
	row := make([]string, len(columns))
	row[0], row[11] = e.Type, e.Desc
	if e.BlockHash != "" {
		row[1], row[2] = strconv.Itoa(int(e.Height)), e.BlockHash
		if e.Time != 0 {
			row[3] = strconv.FormatInt(e.Time, 10)
		}
	}
	output := e.Output
	switch e.Type {
	case api.Receive:
		row[4], row[5], row[6] = e.Amount.String(), e.TxID, number(e.Vout)
	case api.Spend:
		row[4], row[5], row[6] = e.Amount.String(), e.PrevoutTxID, number(e.PrevoutVout)
		row[7], row[8] = e.SpendTxID, number(e.SpendVin)
		output = e.Prevout
	}
	if output != nil {
		row[9], row[10] = output.Address, output.Hex
	}
	if e.Index != nil {
		row[12] = strconv.Itoa(int(*e.Index))
	}
	_ = t.w.Write(row) // an error stays until flush
}

func (t *rows) flush() error {
	t.w.Flush()
	return t.w.Error()
}

func number(n uint32) string { return strconv.FormatUint(uint64(n), 10) }
