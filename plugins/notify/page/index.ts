import type { Gateway } from 'guard-gateway/core'
import type { Notify } from '../notify.ts'
import { notifyPage } from './notify-page.ts'
import { notifyPanel } from './panel.ts'
import { testForm } from './test-form.ts'

/** The page of receivers, its form, and what the first page says of them. */
export const addPages = (gateway: Gateway, notify: Notify): void => {
  gateway.pages.add(notifyPage(notify))
  gateway.forms.add(testForm(notify))
  gateway.panels.add(notifyPanel(notify))
}
