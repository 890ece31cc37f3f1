import { at, type ConfigError } from './config-errors.ts'
import { emptyConfig } from './defaults.ts'

/** Keys of `storage` that belong to one backend, with what to do where another one is chosen. */
const OWNED: Readonly<Record<string, { readonly backend: string; readonly help: string }>> = {
  file: { backend: 'sqlite', help: 'remove it; storage.url names the database' },
  synchronous: { backend: 'sqlite', help: 'remove it; the server decides, or ?options= in storage.url' },
  max_journal_bytes: { backend: 'sqlite', help: 'remove it' },
  url: { backend: 'postgres', help: 'set storage.backend: postgres, or remove it' },
  cluster: { backend: 'postgres', help: 'set storage.backend: postgres, or remove it' },
  pool: { backend: 'postgres', help: 'set storage.backend: postgres, or remove it' },
}

const MISSING = `is missing, and storage.backend is postgres; write "\${DATABASE_URL}", or postgres://user:password@host:5432/database`

/** Keys that the chosen backend does not read, in the section as it is written, without defaults. A backend of one's own is not asked. */
export const storageErrors = (storage: Readonly<Record<string, unknown>>): readonly ConfigError[] => {
  const defaults: Readonly<Record<string, unknown>> = emptyConfig().storage
  const { backend = defaults.backend, url = '' } = storage
  if (backend !== 'sqlite' && backend !== 'postgres') return []
  const foreign = Object.entries(storage).flatMap(([key, value]) => {
    const owner = OWNED[key]
    if (owner === undefined || owner.backend === backend) return []
    // a default says nothing, but two names of a database contradict each other
    if (value === defaults[key] && key !== 'file') return []
    return at(['storage', key], `is of the backend ${owner.backend}, and storage.backend is ${backend}; ${owner.help}`)
  })
  return backend === 'postgres' && url === '' ? [...foreign, ...at(['storage', 'url'], MISSING)] : foreign
}
