import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { root } from './documents.ts'
import { type Reader, run } from './followed.ts'
import { guardWords } from './shell.ts'

/** What a command prints that starts Claude Code, with a program of that name that says where it was pointed at. */
export const standIn = async (reader: Reader, line: string): Promise<string> => {
  const folder = join(reader.folder, 'bin')
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'claude'), '#!/bin/sh\necho "talks to $ANTHROPIC_BASE_URL $*"\n', { mode: 0o755 })
  const bin = join(root, 'presets/default/bin.js')
  // a process of its own, as the agent writes where it does
  const { stdout } = await run(
    process.execPath,
    ['--conditions=guard-source', bin, ...(guardWords(line.trim().split(' ')) ?? [])],
    { cwd: root, env: reader.env({ PATH: `${folder}:${process.env.PATH}` }) },
  )
  return stdout
}
