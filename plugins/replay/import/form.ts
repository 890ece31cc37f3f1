import type { MultipartFile } from '@fastify/multipart'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { GuardError, isPlain } from 'guard-gateway/core'
import { isJsonObject } from '#lib/json'
import { traceFileErrors } from '#lib/trace-file'
import { type Spooled, spooled } from './spool.ts'

/** Limit of a text field. */
const FIELD_BYTES = 4_096
const MAX_PARTS = 16

/** A form with a file, as parsed so far. */
export class FileForm {
  readonly fields: Record<string, string> = Object.create(null)
  /** File name of the sender. */
  file_name = ''
}

/** Accepts `multipart/form-data` in a scope, for `readFileForm`. */
export const acceptForms = async (app: FastifyInstance, max_bytes: number): Promise<void> => {
  const { default: multipart } = await import('@fastify/multipart')
  await app.register(multipart, {
    throwFileSizeLimit: true,
    limits: {
      fileSize: max_bytes,
      files: 1,
      fieldSize: FIELD_BYTES,
      fields: MAX_PARTS,
      parts: MAX_PARTS,
      headerPairs: 16,
    },
  })
}

/** Reads the file of field `file`; other fields are available as they arrive. Throws INVALID_IMPORT, BODY_TOO_LARGE, INVALID_BODY, UNSUPPORTED_ENCODING. */
export const readFileForm = async (request: FastifyRequest, form: FileForm, max_bytes: number): Promise<Spooled> => {
  // parts are parsed as they arrive, without decompression
  if (!isPlain(request.headers['content-encoding'])) throw new GuardError('UNSUPPORTED_ENCODING')
  let file: Spooled | undefined
  try {
    for await (const part of request.parts()) {
      if (part.type === 'file') {
        form.file_name = part.filename
        file = await fileOf(part, max_bytes)
      } else form.fields[part.fieldname] = String(part.value)
    }
  } catch (error) {
    await file?.close()
    throw refusalOf(error)
  }
  if (file === undefined || file.size === 0) throw noFile('The form has no file, or an empty one.')
  return file
}

const fileOf = async ({ fieldname, file }: MultipartFile, max_bytes: number): Promise<Spooled> => {
  if (fieldname !== 'file') throw noFile(`The file stands in field "${fieldname}".`)
  const whole = await spooled(file, undefined, max_bytes)
  if (!file.truncated) return whole
  await whole.close()
  throw tooLarge()
}

const noFile = (what: string): GuardError =>
  new GuardError(traceFileErrors.INVALID_IMPORT, `${what} Send the file in the field "file".`, {
    line: 1,
    path: '/file',
  })

const tooLarge = (): GuardError => new GuardError('BODY_TOO_LARGE', undefined, { path: '/file' })

const refusalOf = (error: unknown): unknown => {
  if (error instanceof GuardError) return error
  const code = isJsonObject(error) ? error.code : undefined
  if (code === 'FST_REQ_FILE_TOO_LARGE') return tooLarge()
  if (typeof code === 'string' && /^FST_(FILES|FIELDS|PARTS)_LIMIT$/.test(code))
    return new GuardError('INVALID_BODY', 'The form has more files or fields than are taken: one file, few fields.')
  return new GuardError('INVALID_BODY', 'The form cannot be read: it is cut off, or no multipart/form-data.', {
    cause: error,
  })
}
