import {
  chmodSync,
  chownSync,
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { filesOf } from './backup-files.ts'

/** Makes a copied backup what a database is: written to the disk, of its owner alone, who under root is the one of the former database or of its folder. */
export const makeOwn = (copy: string, target: string): void => {
  const owner = statSync(existsSync(target) ? target : dirname(target))
  if (process.geteuid?.() === 0) chownSync(`${target}.lock`, owner.uid, owner.gid)
  for (const name of filesOf(copy).filter((one) => existsSync(one))) {
    chmodSync(name, 0o600)
    if (process.geteuid?.() === 0) chownSync(name, owner.uid, owner.gid)
    const handle = openSync(name, 'r+')
    fsyncSync(handle)
    closeSync(handle)
  }
}

/**
 * Puts the copy in the place of the database, whose former files get second names before; what fails is undone.
 * Killed at any time it leaves one of the two at the place: the former one whole, or with two names, which no gateway opens; or the new one whole.
 */
export const exchange = (copy: string, target: string, kept: string | null): void => {
  const former = kept === null ? [] : pairs(target, kept)
  nameTwice(former)
  const [, ...beside] = filesOf(target)
  const clear = () => {
    for (const name of beside) rmSync(name, { force: true })
  }
  try {
    clear()
    // the database itself last: its logs are there when it is
    for (const [from, to] of pairs(copy, target).toReversed()) renameSync(from, to)
  } catch (error) {
    clear()
    giveBack(former)
    throw error
  }
}

/** Gives files second names, all or none. */
const nameTwice = (files: readonly Pair[]): void => {
  try {
    for (const [name, second] of files) linkOrCopy(name, second)
  } catch (error) {
    for (const [, second] of files) rmSync(second, { force: true })
    throw error
  }
}

/** Takes second names away again, and makes them the first where that is gone. */
const giveBack = (files: readonly Pair[]): void => {
  for (const [name, second] of files)
    if (existsSync(name)) rmSync(second)
    else renameSync(second, name)
}

type Pair = readonly [from: string, to: string]

/** The files that are there, each with its name elsewhere. */
const pairs = (from: string, to: string): readonly Pair[] => {
  const names = filesOf(to)
  return filesOf(from)
    .map((name, index): Pair => [name, names[index] as string])
    .filter(([name]) => existsSync(name))
}

/** Gives a file a second name; a copy where the file system has no links. */
const linkOrCopy = (file: string, name: string): void => {
  try {
    linkSync(file, name)
  } catch {
    copyFileSync(file, name, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE)
  }
}
