import type { ReportKind } from '@palisade/contract/remote-session';

/** A customer's reasons for a report, in the first person. */
export const REPORTS: Record<ReportKind, string> = {
  asked_for_money: 'They asked for money or gift cards',
  asked_for_password: 'They asked for a password or a code',
  did_what_i_did_not_want: 'They did something that I did not want',
  not_who_they_said: 'They were not who they said they were',
  else: 'Something else',
};
export const REPORT_KINDS = Object.keys(REPORTS).filter((kind): kind is ReportKind => Object.hasOwn(REPORTS, kind));
