package web

import (
	"bufio"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"strconv"
)

// columns are the columns of an exported table. txid and vout are of the output, spent_by and
// its input of the transaction that spends it. A value that an entry does not have is empty.
var columns = []string{
	"type", "height", "blockhash", "time", "amount", "txid", "vout", "spent_by", "input",
	"address", "script", "descriptor", "index",
}

// errUnfinished ends an export that lacks entries: the reader must not take it for the whole.
var errUnfinished = errors.New("the entries could not all be read")

// historyFormat is the format of exportsearch.
const historyFormat = "history"

// exportHistory writes what exportsearch answers.
func exportHistory(ctx context.Context, v viewer, id string, w io.Writer, first func()) error {
	var lines string
	if err := read(ctx, v, nil, &lines, "exportsearch", id); err != nil {
		return err
	}
	first()
	_, err := io.WriteString(w, lines+"\n")
	return err
}

// export writes all entries of a search as "csv" or "json", or its history. first is called before anything is
// written. An error after that means that what was written is not the whole.
func export(ctx context.Context, v viewer, id, format string, w io.Writer, first func()) error {
	if format == historyFormat {
		return exportHistory(ctx, v, id, w, first)
	}
	page, err := readEntries(ctx, v, id, "", entriesLimit)
	if err != nil {
		return err
	}
	first()
	out := newTable(w)
	if format == "json" {
		out = &array{w: bufio.NewWriter(w)}
	}
	for {
		for _, text := range page.Entries {
			if err := out.write(text); err != nil {
				return err
			}
		}
		if !page.More {
			return out.end()
		}
		cursor := page.Cursor
		if page, err = readEntries(ctx, v, id, cursor, entriesLimit); err != nil {
			return errors.Join(errUnfinished, err)
		}
	}
}

// An exporter writes entries that the node wrote.
type exporter interface {
	write(text json.RawMessage) error
	end() error
}

// An array is JSON with an entry on each line.
type array struct {
	w     *bufio.Writer
	begun bool
}

func (a *array) write(text json.RawMessage) error {
	separator := "[\n"
	if a.begun {
		separator = ",\n"
	}
	a.begun = true
	_, _ = a.w.WriteString(separator) // an error stays
	_, err := a.w.Write(text)
	return err
}

func (a *array) end() error {
	if !a.begun {
		_, _ = a.w.WriteString("[")
	}
	_, _ = a.w.WriteString("\n]\n")
	return a.w.Flush()
}

// A table is comma-separated values with a first line that names them.
type table struct{ w *csv.Writer }

func newTable(w io.Writer) exporter {
	t := &table{csv.NewWriter(w)}
	_ = t.w.Write(columns) // an error stays until end
	return t
}

func (t *table) write(text json.RawMessage) error {
	var e entry
	if err := json.Unmarshal(text, &e); err != nil {
		return err
	}
	return t.w.Write(e.columns())
}

func (t *table) end() error {
	t.w.Flush()
	return t.w.Error()
}

func (e *entry) columns() []string {
	row := make([]string, len(columns))
	row[0], row[11] = e.Type, e.Desc
	if e.BlockHash != "" {
		row[1], row[2] = strconv.FormatInt(e.Height, 10), e.BlockHash
		if e.Time != 0 {
			row[3] = strconv.FormatInt(e.Time, 10)
		}
	}
	output := e.Output
	switch e.Type {
	case "receive":
		row[4], row[5], row[6] = e.Amount.String(), e.TxID, decimal(e.Vout)
	case "spend":
		row[4], row[5], row[6] = e.Amount.String(), e.PrevoutTxID, decimal(e.PrevoutVout)
		row[7], row[8] = e.SpendTxID, decimal(e.SpendVin)
		output = e.Prevout
	}
	if output != nil {
		row[9], row[10] = output.Address, output.Hex
	}
	if e.Index != nil {
		row[12] = strconv.FormatInt(*e.Index, 10)
	}
	return row
}

func decimal(n uint32) string { return strconv.FormatUint(uint64(n), 10) }
