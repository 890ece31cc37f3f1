import { randomBytes } from 'node:crypto'
import { readFile, realpath, rename, rm, stat, writeFile } from 'node:fs/promises'
import { GuardError } from 'guard-gateway/core'
import { mcpErrors } from '../error-codes.ts'

/** What holds where no policy file is named. */
const NONE = 'version: 1\ndefault: confirm\nrules: []\n'
const MAX_BYTES = 262_144

/** The text of the policy file; that of the policy without one if there is none. Throws RULE_NOT_WRITABLE for one that is too long or not there. */
export const policyText = async (file: string | null): Promise<string> => {
  if (file === null) return NONE
  try {
    const text = await readFile(file, 'utf8')
    if (text.length <= MAX_BYTES) return text
  } catch (cause) {
    throw new GuardError(mcpErrors.RULE_NOT_WRITABLE, 'The policy file cannot be read.', { cause })
  }
  throw new GuardError(
    mcpErrors.RULE_NOT_WRITABLE,
    `The policy file has more than ${MAX_BYTES} characters: change it by hand.`,
  )
}

/** Replaces the text of a file at once, unless somebody has changed it meanwhile: throws VERSION_CONFLICT then, and RULE_NOT_WRITABLE where it cannot be written. */
export const replacePolicyText = async (file: string, before: string, after: string): Promise<void> => {
  let unfinished: string | undefined
  try {
    const target = await realpath(file)
    const { mode } = await stat(target)
    unfinished = `${target}.${randomBytes(6).toString('hex')}.tmp`
    await writeFile(unfinished, after, { flag: 'wx', mode, flush: true })
    if ((await readFile(target, 'utf8')) !== before)
      throw new GuardError('VERSION_CONFLICT', 'The policy file has changed meanwhile. Look at the rule anew.')
    await rename(unfinished, target)
  } catch (cause) {
    if (unfinished !== undefined) await rm(unfinished, { force: true })
    if (cause instanceof GuardError) throw cause
    throw new GuardError(
      mcpErrors.RULE_NOT_WRITABLE,
      'The policy file or its folder cannot be written by the gateway.',
      { cause },
    )
  }
}
