import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { guardProgram } from '../kit/child-gateway.ts'
import { root } from './documents.ts'
import { type Reader, run } from './followed.ts'
import { guardWords } from './shell.ts'

/** What a command prints that starts Claude Code, with a program of that name that says where it was pointed at. */
export const standIn = async (reader: Reader, line: string): Promise<string> => {
  const folder = join(reader.folder, 'bin')
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'claude'), '#!/bin/sh\necho "talks to $ANTHROPIC_BASE_URL $*"\n', { mode: 0o755 })
  const words = guardWords(line.trim().split(' ')) ?? []
  return (await guard(reader, words, root, { PATH: `${folder}:${process.env.PATH}` })).stdout
}

/** What a command of Guard prints, in a process of its own, since an agent writes where it does. */
export const guard = (
  reader: Reader,
  words: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>> = {},
): Promise<{ readonly stdout: string; readonly stderr: string }> =>
  run(process.execPath, [...guardProgram, ...words], {
    cwd,
    env: reader.env(env),
  })
