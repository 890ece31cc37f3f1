import type { Gateway } from 'guard-gateway/core'
import { formKind, pageKind, panelKind } from 'guard-gateway/lib/page'
import type { Notify } from '../notify.ts'
import { notifyPage } from './notify-page.ts'
import { notifyPanel } from './panel.ts'
import { testForm } from './test-form.ts'

/** The page of receivers, its form, and what the first page says of them. */
export const addPages = (gateway: Gateway, notify: Notify): void => {
  gateway.registry(pageKind).add(notifyPage(notify))
  gateway.registry(formKind).add(testForm(notify))
  gateway.registry(panelKind).add(notifyPanel(notify))
}
