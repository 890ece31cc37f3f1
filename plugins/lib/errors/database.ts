import { errorCodes } from 'guard-gateway/core'

/** A database that this gateway must not or cannot use. Every storage backend raises them; the store registers them. */
export const databaseErrors = errorCodes(500, 'configuration_error', {
  DATABASE_DAMAGED: [
    'The database file is damaged or not a database',
    'Restore a backup, or name another file in storage.file; the file was not touched.',
  ],
  DATABASE_NEWER: ['A newer version wrote the database', 'Install that version, or name another file in storage.file.'],
  DATABASE_LOCKED: ['Another gateway uses the database', 'Stop it, or name another file in storage.file.'],
  DATABASE_UNWRITABLE: [
    'The database file cannot be opened',
    'Check the folder and its rights, or name another file in storage.file.',
  ],
})
