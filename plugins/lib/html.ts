export {
  choice,
  costHead,
  costUnit,
  countMark,
  cursorLinks,
  decisionMark,
  durationMark,
  faultList,
  instantMark,
  newRowsMark,
  pageUrl,
  priceMark,
  suggestedValues,
} from './html/marks.ts'
export { escapeInvisible, Html, type HtmlValue, html, joined, raw } from './html/template.ts'
