package vault

import (
	"context"
	"database/sql"
	"errors"
)

// Relax gives the memory of page caches back to the system. It is for a vault that is
// not used for a while; the next calls read their pages again.
func (v *Vault) Relax(ctx context.Context) error {
	var errs []error
	if v.db != nil {
		if err := v.enter(ctx); err != nil {
			return err
		}
		_, err := v.conn.ExecContext(ctx, shrink)
		v.leave()
		errs = append(errs, v.explain("relax", err))
	}
	var readers []*sql.Conn
	for range readConns {
		c, err := v.readers.Conn(ctx)
		if err != nil {
			errs = append(errs, v.explain("relax", err))
			break
		}
		_, err = c.ExecContext(ctx, shrink)
		readers, errs = append(readers, c), append(errs, v.explain("relax", err))
	}
	for _, c := range readers {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}

const shrink = `PRAGMA shrink_memory`
