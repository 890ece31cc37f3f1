import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { sqlite } from 'guard-gateway/plugins/storage/sqlite'
import { storageConforms } from '../../conformance/storage.ts'

const folder = mkdtempSync(join(tmpdir(), 'guard-sqlite-'))
storageConforms(sqlite({ file: join(folder, 'suite.db') }))
after(() => rmSync(folder, { recursive: true }))
