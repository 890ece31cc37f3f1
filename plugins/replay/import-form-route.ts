import type { FastifyInstance, FastifyRequest } from 'fastify'
import { GuardError, writeJson } from 'guard-gateway/core'
import type { ImportAnswer } from './import.ts'
import { readImportOptions } from './import-ask.ts'
import { readFileForm, takeForms } from './import-form.ts'
import type { Imports } from './imports.ts'

/** The page that a form leads to where it names none. */
const PAGE = '/replay'

/** The import form of a page: done, it leads on by 303, or answers a program with what was imported. */
export const importForm = (imports: Imports) => async (app: FastifyInstance) => {
  app.removeAllContentTypeParsers()
  await takeForms(app, imports.max_bytes)
  app.post('/ui/runs/import', { schema: { hide: true } as object }, async (request, reply) => {
    if (!request.isMultipart()) throw new GuardError('UNSUPPORTED_MEDIA_TYPE', 'Send the form as multipart/form-data.')
    const { file, fields } = await readFileForm(request)
    const { return_to, ...asked } = fields
    const answer = await imports.take(file, readImportOptions(asked), reply)
    if (!wantsPage(request)) return reply.type('application/json; charset=utf-8').send(writeJson(answer))
    return reply.redirect(targetOf(return_to, answer), 303)
  })
}

/** A browser asks for a document, a program for an answer. */
const wantsPage = ({ headers }: FastifyRequest): boolean => headers.accept?.includes('text/html') === true

/** A path of this server, as it was given, with the code of what the page is to say. */
const targetOf = (return_to: string | undefined, { imported }: ImportAnswer): string => {
  const safe = return_to !== undefined && /^\/(?![/\\])[^\u0000-\u0020\u007f\\]*$/.test(return_to)
  const [rest = '', fragment] = (safe ? return_to : PAGE).split('#', 2)
  const [path, search] = rest.split('?', 2)
  const query = new URLSearchParams(search)
  query.set('notice', imported.length > 0 ? 'runs-imported' : 'runs-skipped')
  return `${path}?${query}${fragment === undefined ? '' : `#${fragment}`}`
}
