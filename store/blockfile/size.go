package blockfile

// DiskSize returns how many bytes the block and undo files of a folder take.
func DiskSize(dir string) (int64, error) {
	blocks, err := Blocks.DiskSize(dir)
	if err != nil {
		return 0, err
	}
	undo, err := Undo.DiskSize(dir)
	return blocks + undo, err
}
