import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { GuardError } from 'guard-gateway/core'
import type { Input, Io } from 'guard-gateway/lib/command'
import { terminalText } from 'guard-gateway/lib/text'
import { serviceErrors } from './error-codes.ts'
import { configFolder, managerHere, usableManager } from './find-manager.ts'
import { receiptIn } from './receipt.ts'
import type { ServiceOptions } from './setting.ts'
import { textAt } from './write-file.ts'

/** `guard service remove`: stops the service, and deletes the file that `install` wrote and nothing else. */
export const remove = async (options: ServiceOptions, input: Input, io: Io): Promise<number> => {
  const { file } = managerHere(options, io)
  const text = textAt(file)
  if (text === undefined) {
    if (input.options.json === true) io.out.write(`${JSON.stringify({ removed: null })}\n`)
    else io.out.write('No service is installed.\n')
    return 0
  }
  if (receiptIn(text)?.intact !== true && input.options.force !== true)
    throw new GuardError(
      serviceErrors.SERVICE_EDITED,
      `${file} was edited, or was not written by "guard service install"; the service was left as it is. Remove it with --force.`,
    )
  const manager = await usableManager(options, io)
  await manager.stop()
  rmSync(file, { force: true })
  await manager.forget()
  const keys = join(configFolder(io), 'guard/keys.env')
  const stays = [receiptIn(text)?.config, existsSync(keys) ? keys : undefined].filter((name) => name !== undefined)
  if (input.options.json === true) io.out.write(`${JSON.stringify({ removed: file, stays })}\n`)
  else {
    io.out.write(`The service is stopped and removed: ${terminalText(file)}\n`)
    if (input.options.quiet !== true && stays.length > 0)
      io.err.write(`These stay: ${terminalText(stays.join(', '))}\n`)
  }
  return 0
}
