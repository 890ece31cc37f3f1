import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Ask, type Gateway, GuardError, type Page } from 'guard-gateway/core'
import { askOf, pathOf } from './asked.ts'
import { noticeOf } from './notices.ts'
import type { Shell } from './shell.ts'

const summary = (page: Page) => ({ schema: { summary: `Page: ${page.id}`, hide: true } as object })

/** Serves every registered page; `/` leads to the runs. */
export const pageRoutes = (app: FastifyInstance, gateway: Gateway, shell: Shell): void => {
  app.get('/', { schema: { hide: true } as object, exposeHeadRoute: false }, (_request, reply) =>
    reply.redirect('/replay', 303),
  )
  for (const page of gateway.pages) {
    if (page.render === undefined) continue
    app.get(page.path, summary(page), async (request, reply) =>
      show(shell, page, request, reply, askOf(gateway, request), noticeOf(gateway, request.url)),
    )
  }
}

/** Answers with a page; 422 where it shows a form that was refused. */
export const show = async (
  shell: Shell,
  page: Page,
  request: FastifyRequest,
  reply: FastifyReply,
  ask: Ask,
  notice?: string,
): Promise<FastifyReply> => {
  const [view] = await Promise.all([page.render?.(ask), shell.count()])
  if (view === undefined) throw new GuardError('NOT_FOUND')
  const status = view.status ?? (ask.refused === undefined ? 200 : 422)
  return reply
    .code(status)
    .type('text/html; charset=utf-8')
    .send(shell.document(view, pathOf(request.url), notice))
}
