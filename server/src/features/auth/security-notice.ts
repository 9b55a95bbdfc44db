/** The letter after the security of an account was changed: whoever did not do it learns of it. `what` goes on from "Hello Maria,". */
export function securityNotice(
  { email, username }: { email: string; username: string },
  { subject, what, advice }: { subject: string; what: string; advice?: string },
) {
  return {
    recipient: email,
    subject,
    lines: [
      `Hello ${username},`,
      what,
      ...(advice === undefined ? [] : [advice]),
      'If this was not you, change your password at once and tell support.',
    ],
  };
}
