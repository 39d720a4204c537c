package controlrpc

import (
	"context"
	"runtime"

	"github.com/seed61375155/trawl/rpc/command"
)

// memoryInfo is what getmemoryinfo returns.
type memoryInfo struct {
	Locked memoryStats `json:"locked"`
}

// memoryStats are numbers of the program's memory: used and free add up to total.
type memoryStats struct {
	Used       uint64 `json:"used"`
	Free       uint64 `json:"free"`
	Total      uint64 `json:"total"`
	Locked     uint64 `json:"locked"`
	ChunksUsed uint64 `json:"chunks_used"`
	ChunksFree uint64 `json:"chunks_free"`
}

func getMemoryInfo() command.Command {
	return command.Command{
		Name:     "getmemoryinfo",
		Category: command.Control,
		About:    command.Program, Effect: command.Reads,
		Summary: "Returns how much memory the program uses.\n" +
			"The program has no pool of its own for secrets: the numbers are those of the whole heap.",
		Params: []command.Param{{
			Name: "mode", Type: command.String, Default: `"stats"`,
			Help: "stats for numbers; mallocinfo, which glibc's allocator has, is not available",
		}},
		Results: []command.Result{{Type: command.Object, Help: "stats", Inner: []command.Result{
			{Type: command.Object, Key: "locked", Help: "the heap", Inner: []command.Result{
				{Type: command.Number, Key: "used", Help: "bytes in use"},
				{Type: command.Number, Key: "free", Help: "bytes that are kept for later, or were given back"},
				{Type: command.Number, Key: "total", Help: "both"},
				{Type: command.Number, Key: "locked", Help: "bytes that are kept from being swapped out: none"},
				{Type: command.Number, Key: "chunks_used", Help: "objects in use"},
				{Type: command.Number, Key: "chunks_free", Help: "free pages of 8 KiB"},
			}},
		}}},
		Examples: []string{`[]`},
		Control:  always,
		Run: func(_ context.Context, a *command.Args) (any, error) {
			switch mode, err := a.StringOr(0, "stats"); {
			case err != nil:
				return nil, err
			case mode == "mallocinfo":
				return nil, command.Error{Code: command.InvalidParameter, Message: "mallocinfo mode not available"}
			case mode != "stats":
				return nil, command.Errorf(command.InvalidParameter, "unknown mode %s", mode)
			}
			return memoryInfo{readMemory()}, nil
		},
	}
}

func readMemory() memoryStats {
	const page = 8 << 10
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return memoryStats{
		Used: m.HeapInuse, Free: m.HeapIdle, Total: m.HeapInuse + m.HeapIdle,
		ChunksUsed: m.HeapObjects, ChunksFree: m.HeapIdle / page,
	}
}
