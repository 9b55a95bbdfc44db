/**
 * The letter after a change of an account's security, which warns an owner who did not make it. `what` follows "Hello,": usernames are never put into letters, because
 * people choose them.
 */
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
