package web

import (
	"context"
	"encoding/json"
	"net/url"
)

// A preview is the result of previewrestore, a dry run of a restore.
type preview struct {
	File        string `json:"-"`
	Size        int64
	Format      string
	Intact      bool
	Problem     string
	Recovered   []string
	Warnings    []string
	Flags       []string
	PrivateKeys bool `json:"private_keys"`
	Encrypted   bool
	BirthTime   int64
	TxCount     int64
	Labels      int64
	Last        *previewBlock `json:"lastprocessedblock"`
	All         int           `json:"descriptorcount"`
	Descriptors []previewDescriptor
	Restore     previewPlan
	Beyond      *previewBeyond // nil: it is not known
	MayRestore  bool           `json:"-"`
	Uploaded    bool           `json:"-"` // the node has it because it was uploaded
	CallProblem string         `json:"-"` // why there is no preview
}

type previewBlock struct {
	Hash   string
	Height *int64
}

type previewDescriptor struct {
	Desc         string
	Timestamp    int64
	Active       bool
	Internal     bool
	Fingerprints []string
	Addresses    []string
}

type previewPlan struct {
	Name     string
	Possible bool
	Problem  string
	Blocks   int64 `json:"rescan_blocks"`
	From     int64 `json:"rescan_from"`
	To       int64 `json:"rescan_to"`
	Filters  bool
	Fetch    int64 `json:"blocks_to_fetch"`
	Estimate int64 `json:"estimated_seconds"`
}

type previewBeyond struct {
	Payments bool
	Gap      int32
}

// maxPreviewed is how many descriptors a page shows.
const maxPreviewed = 20

// restoreModel is what the page of restores shows before a file is named.
func restoreModel(context.Context, viewer, url.Values) (any, error) { return struct{}{}, nil }

// uploaded shows the reply to previewrestore of a backup that was uploaded. The page has it from
// there, and sends it back: it is shown to nobody else.
func uploaded(v viewer, file, reply string) *preview {
	p := &preview{}
	if err := json.Unmarshal([]byte(reply), p); err != nil {
		p = &preview{CallProblem: "The answer of the node cannot be read."}
	}
	p.File, p.Uploaded, p.MayRestore = file, true, v.Has("restorewallet")
	p.Descriptors = p.Descriptors[:min(len(p.Descriptors), maxPreviewed)]
	return p
}

// look reads what a backup has in it.
func look(ctx context.Context, v viewer, file, name string) *preview {
	p := &preview{File: file, MayRestore: v.Has("restorewallet")}
	params := []any{file}
	if name != "" {
		params = append(params, name)
	}
	if err := read(ctx, v, nil, p, "previewrestore", params...); err != nil {
		p.CallProblem = err.Error()
	}
	p.Descriptors = p.Descriptors[:min(len(p.Descriptors), maxPreviewed)]
	return p
}
