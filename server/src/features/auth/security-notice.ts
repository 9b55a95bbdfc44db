/** The letter after the security of an account was changed: whoever did not do it learns of it. `what` goes on from "Hello,": a username is a text that somebody chose, and stands in no letter. */
export function securityNotice(
  { email }: { email: string },
  { subject, what, advice }: { subject: string; what: string; advice?: string },
) {
  return {
    recipient: email,
    subject,
    lines: [
      'Hello,',
      what,
      ...(advice === undefined ? [] : [advice]),
      'If this was not you, change your password at once and tell support.',
    ],
  };
}
