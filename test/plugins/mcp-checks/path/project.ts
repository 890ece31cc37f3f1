import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { linesOf } from '../lines.ts'

/** A project `proj` with links that leave it in every way, and what lies beside it. Removed by `remove`. */
export const plantProject = (): { readonly base: string; remove(): void } => {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'guard-project-')))
  for (const folder of ['proj/src/deep', 'proj/.ssh', 'proj/certs', 'proj/docs', 'proj2', 'projx', 'outside'])
    mkdirSync(join(base, folder), { recursive: true })
  for (const file of ['proj/src/a.ts', 'proj/.env', 'proj/certs/server.pem', 'proj2/x.txt', 'outside/secret'])
    writeFileSync(join(base, file), 'x')
  const links = {
    'link-out': '../outside',
    'link-abs': join(base, 'outside'),
    'link-parent': '..',
    'link-root': '/',
    'link-file': '../outside/secret',
    'link-two': 'link-out',
    'link-chain': 'src/../link-two',
    'link-dangling': '../gone',
    'link-dangling-abs': '/nope/x',
    'src/link-up': '../..',
    'link-in': 'src',
    'link-deep': 'src/deep',
    'link-loop': 'link-loop',
    'link-self': '.',
    'src/link-x': '../../outside',
    'link-env': '.env',
    'src/back': '..',
    'link-pem': 'certs/server.pem',
    outin: '../proj',
    'missing-middle': 'nowhere/../../outside',
    dbl: 'src//a.ts',
  }
  for (const [place, target] of Object.entries(links)) symlinkSync(target, join(base, 'proj', place))
  return { base, remove: () => rmSync(base, { recursive: true, force: true }) }
}

/** Paths that leave the project, by families of public payload lists. */
export const projectAttacks: readonly string[] = [
  ...linesOf('path/attacks.txt'),
  ...['', '\t', '\n', '..\0', 'src/a.ts\0', 'src/a.ts\n', 'src/\ra.ts', '../outside\n', '\0', 'src/a\u0007.ts'],
  ...['src/a\u009b.ts', 'src/a\u007f.ts', '\u202e../outside', '\ufeff../outside', '..\ufe0f/outside', 'src/\ud800'],
  ...[`${'../'.repeat(500)}etc/passwd`, `${'a/'.repeat(3000)}x`, 'é'.repeat(2100), `${'./'.repeat(1000)}../outside`],
]

/** Paths of ordinary projects. */
export const projectPaths: readonly string[] = [
  ...linesOf('path/ordinary.txt'),
  `${'a'.repeat(200)}.txt`,
  `${'d/'.repeat(50)}x`,
]
