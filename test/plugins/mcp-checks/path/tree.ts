import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A folder with a project `app`, what lies beside it, and links of all kinds. Removed by `remove`. */
export const plantTree = (): { readonly base: string; remove(): void } => {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'guard-path-')))
  for (const folder of ['app/src/deep', 'app/config', 'app/docs', 'app/my folder', 'app/données', 'app2', 'outside/in'])
    mkdirSync(join(base, folder), { recursive: true })
  for (const file of ['app/src/a.ts', 'app/.env', 'app/config/.env.local', 'app2/b.txt', 'outside/secret.txt'])
    writeFileSync(join(base, file), 'x')
  const links = {
    'app/link-in': 'src',
    'app/link-out': '../outside',
    'app/link-out-absolute': join(base, 'outside'),
    'app/link-up': '..',
    'app/link-file-out': '../outside/secret.txt',
    'app/link-env': '.env',
    'app/link-root': '/',
    'app/dangling-in': 'src/none',
    'app/dangling-out': '../outside/none',
    'app/dangling-deep': '../nowhere/at/all',
    'app/chain-1': 'chain-2',
    'app/chain-2': 'src/chain-3',
    'app/src/chain-3': '../../outside',
    'app/loop-1': 'loop-2',
    'app/loop-2': 'loop-1',
    'app/self': '.',
    'app/src/deep/far': '../../docs',
    'app/to-deep': 'src/deep',
    'app/there-and-back': '../app/src',
    'app/escape': '../outside/in',
    'app/re\u0301sume\u0301': '../outside',
    'app/éﬁ': '../outside',
    'app/link-process': '/proc/self/cwd',
    alias: 'app',
  }
  for (const [place, target] of Object.entries(links)) symlinkSync(target, join(base, place))
  return { base, remove: () => rmSync(base, { recursive: true, force: true }) }
}
