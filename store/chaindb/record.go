package chaindb

// Record reads again a block that [DB.Reload] has shown before: size bytes from
// the record at offset of a block file.
func (db *DB) Record(file int, offset int64, size int) ([]byte, error) {
	return db.blocks.ReadRecord(file, offset, size, 0)
}
