/** The letter after the security of an account was changed, which warns an owner who did not do it. `what` follows "Hello,": a username is text of a person, and is in no letter. */
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
      'If this wasn’t you, change your password now and contact support.',
    ],
  };
}
