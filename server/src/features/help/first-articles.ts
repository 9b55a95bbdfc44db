import type { ArticleWritten } from '@palisade/contract/help';

/** The articles that every installation begins with. Administrators change them as they like. */
export const FIRST_ARTICLES: readonly Omit<ArticleWritten, 'is_published'>[] = [
  {
    slug: 'somebody-called-me',
    title: 'Somebody called me about my computer',
    summary: 'We never call first. Hang up, give nothing, and what to do if you already gave something.',
    body: `**Hang up now.** We never call first. Neither does Microsoft, your bank or the police to ask for money, a password or a code. You do not have to be polite.

## What they say

- "Your computer sends viruses", "your account was hacked", "we saw a payment".
- They want you to install a program, to open a page, to read out a code, or to buy gift cards.
- They are in a hurry, and they want you to stay on the line.

## If you gave them something

1. **A card number or bank access:** call your bank, with the number on the back of your card. Do this first.
2. **Access to the computer:** take it off the internet. Pull the cable or switch Wi-Fi off.
3. **A password:** change it from another device. Change it everywhere you use the same one.
4. **A code of ours:** open [Remote Access](/remote) and press **End session** or **Cancel**.
5. Write to us in [the chat](/chat) and say what happened. Nobody will laugh at you: this happens to very many people.

Do not call back a number that they gave you.`,
  },
  {
    slug: 'warning-with-a-number',
    title: 'A warning on my screen tells me to call a number',
    summary: 'A real warning has no telephone number. How to close it, and how to check that nothing happened.',
    body: `A page that shouts, blinks or speaks, and that tells you to call a number, is an advertisement of deceivers. **Nothing is infected because a page says so.**

1. Do not call, and do not press anything inside the page.
2. Close the window. If it does not close, press **Escape** for some seconds, or restart the computer.
3. When the browser asks whether to open the last pages again, say no.
4. Did a file arrive on its own? Do not open it. Go to [Antivirus](/antivirus) and scan it.

If you have called the number already, read [Somebody called me about my computer](/help/somebody-called-me).`,
  },
  {
    slug: 'a-file-is-infected',
    title: 'A file is infected: what now',
    summary: 'Infected means that something harmful was found in it. Delete it, and what to do if you opened it.',
    body: `**Infected** means that one of our engines found something harmful in the file. The scan history names what it found.

## You did not open it

Delete the file from your computer, and empty the bin. Then nothing has happened.

## You opened it

1. Take the computer off the internet.
2. From another device, change the passwords that you typed since then. Begin with your mail and your bank.
3. Write to us in [the chat](/chat), and share the scan from its own page, so that we see what was found.

## You think that it is a mistake

In [Antivirus](/antivirus) open the file's entry and press **Report as false alarm**. A person looks at it. The sealed copy stays in quarantine until you delete it.`,
  },
  {
    slug: 'what-pending-means',
    title: 'What Pending means',
    summary: 'Pending is not clean: nobody can say yet what is in the file. The history says why.',
    body: `**Pending** means that the file was not read to its end. We say **Clean** only when every byte was read and nothing was found.

The entry says why:

- **It waits for its turn,** or the engine is starting. It is read by itself, a little later.
- **It is encrypted.** Open the entry and give the password: the file is read with it.
- **It is too large, or packed too deep.** Unpack it and scan the parts.
- **It is damaged, or of a kind that we cannot read.**

Do not open a pending file from somebody whom you do not know.`,
  },
  {
    slug: 'i-cannot-sign-in',
    title: 'I cannot sign in',
    summary: 'Forgotten password or username, a second step that fails, or an account that is locked for a while.',
    body: `## I forgot my password or my username

On the sign-in screen press **Forgot Password?** or **Forgot Username?** and follow the mail. Look into the folder for spam, too.

## My code is refused

- The codes of an authenticator app need the right time: set the clock of your phone to automatic.
- Use one of your **recovery codes** instead. Each works once.
- A passkey works on the address where you made it, and nowhere else.

## It says that I have to wait

After several wrong passwords sign-in is refused for a while, so that nobody can guess yours. Wait, or reset your password.

## Nothing helps

Call support. Have the mail address of your account ready. Nobody from support asks for your password.`,
  },
  {
    slug: 'scan-a-file',
    title: 'How to scan a file',
    summary: 'Choose files, or drop them on the page. What happens with them, and what each answer means.',
    body: `1. Go to [Antivirus](/antivirus).
2. Press **Choose files**, or drop files on the page. Several at once are fine.
3. Wait for the answer: **Clean**, **Infected** or **Pending**.

Archives are unpacked and everything in them is read. A clean file is not kept. An infected one is kept sealed in quarantine, so that you can get it back if it was a mistake.

See also [What Pending means](/help/what-pending-means) and [A file is infected: what now](/help/a-file-is-infected).`,
  },
  {
    slug: 'firewall-rules',
    title: 'How firewall rules work',
    summary: 'What a rule says, which one wins, and how to find out whether a connection passes.',
    body: `A rule says what happens with connections: **allow** or **block**, **inbound** (to you) or **outbound** (from you), from which address, to which port.

- A block that is switched on wins over every allow.
- The order of rules does not matter.
- A dimmed rule is switched off.
- \`*\` stands for everything.

To find out what happens with a connection, go to [Firewall](/firewall) and use **Would this pass?** It names the rule that decides.`,
  },
  {
    slug: 'remote-support-safely',
    title: 'Remote support, safely',
    summary: 'How a technician helps on your screen, and how you know that it is really us.',
    body: `A technician can help you on your screen, after **you** asked for it.

1. Call us, or write in [the chat](/chat). We never call first.
2. Go to [Remote Access](/remote) and press **New Session**, or take the code from the card in the chat.
3. Tell the code only to the technician whom you called. It is valid for 30 minutes.
4. You are shown who asks. Nobody sees anything before you approve.
5. You can end it at any moment with **End session**.

A technician never asks for your password, never for a card number, and never wants you to open your bank's page.

What they see, what they may do, and how you stop it at once: [When a technician is on your computer](/help/technician-on-my-computer).`,
  },
  {
    slug: 'technician-on-my-computer',
    title: 'When a technician is on your computer',
    summary: 'What a technician sees, what they may do, how you stop remote control at once, and who never calls first.',
    body: `Think of a visitor whom you let in. They see the room that you show them, they touch what you allow, and they leave when you say so.

## How you stop it at once

- Press the red **Stop** at the top of any page. The picture is gone at that moment, and the session is over.
- Or hold **Alt** and **Shift** and press **S**.
- Somebody moves your mouse, and you want it back? **Move your own mouse.** It is yours alone again. **Stop control**, or **Alt**, **Shift** and **C**, does the same.
- Nothing works any more? Close the browser, or switch the computer off. That stops everything. You break nothing by it.

You need no reason, and you do not have to be polite.

## What they see

- Nothing, until you have pressed **Approve** and chosen what to show: the whole screen, one window, or one page.
- Only that. What you choose stands on your own page as a small picture, so you see what they see.
- They point and draw on that picture. **They cannot press anything with it: you press.**
- You want to open your bank, or a letter? Press **Pause** first. They see black until you press **Show again**.

## What they may do, each only after you say yes

- **See or control a computer:** their mouse and keyboard work on it as if they sat there. This needs our program on that computer, which you add under [Devices](/devices) yourself.
- **Share the clipboard:** what one of you copies, the other can paste.
- **Send files:** each is checked for harmful things first, and you can refuse each.
- **Record:** you are told while it runs, and you get the recording too. Voices are never in it.
- **Talk:** you turn your own voice on, and you begin muted. Nobody can turn on your microphone for you.

If you do nothing, the answer is no. They have no way in when you are away: everything ends when you close the page.

## Who never calls first

**We never call first.** Neither does Microsoft, your bank or the police. Whoever rings you and wants to get on your computer is a deceiver, however kind they are. Hang up, and read [Somebody called me about my computer](/help/somebody-called-me).

- Nobody from us asks for a password, a card number or the code of a sign-in.
- Nobody from us wants you to buy gift cards, to send money, or to open your bank's page.
- Ask them to say their name, and compare it with the name on your screen. It is another one? Press **Decline**.

## Afterwards

On [Remote Access](/remote) you read what happened, and what changed on your computer meanwhile. Something is wrong? Press **Report this session**: it ends at once, and those who are responsible are told.`,
  },
  {
    slug: 'slow-computer',
    title: 'My computer is slow',
    summary: 'What to try first, and what to tell us when it stays slow.',
    body: `1. Restart the computer. Shutting the lid is not enough.
2. Close programs and browser tabs that you do not use.
3. Look at how much room the disk has. Below a tenth is too little.
4. Go to [Antivirus](/antivirus) and scan the program that you suspect.

Still slow? Write to us in [the chat](/chat): since when, in which program, and whether it is slow without the internet, too.`,
  },
  {
    slug: 'plan-and-payment',
    title: 'My plan and what it costs',
    summary: 'Where you see your plan, how to ask for another one, and whom to ask about a payment.',
    body: `Your plan, its price and its end are on the [Dashboard](/dashboard).

To change it, go to [Subscriptions](/subscription-manager), choose a plan and press **Request this plan**. An administrator answers.

If an amount or a date is wrong, write to us in [the chat](/chat). **Never write a card number in the chat:** nobody here needs it.`,
  },
  {
    slug: 'two-step-sign-in',
    title: 'Sign in with two steps',
    summary: 'A password alone can be stolen. How to add an authenticator app or a passkey.',
    body: `With two steps somebody who has your password still cannot sign in.

1. Open the menu with your name, then **Security Preferences**.
2. Choose an **authenticator app** or a **passkey**, and follow the steps.
3. Keep the **recovery codes** on paper, away from the computer. Each works once.

A passkey is your fingerprint, your face or the code of your phone. It cannot be given to a false page.`,
  },
  {
    slug: 'ransom-note',
    title: 'My files are locked and somebody wants money',
    summary: 'Do not pay. Take the computer off the internet, leave it on, and call us from a phone.',
    body: `**Do not pay.** Nobody who pays can be sure to get the files back.

1. Take the computer off the internet now: pull the cable or switch Wi-Fi off.
2. Leave it on. Sometimes the key is still in its memory.
3. Unplug other disks, if they are connected.
4. Do not delete anything, and do not install anything.
5. Call support from a phone, and read us the words on the screen.
6. Report it to the police.

If you have a copy of your files elsewhere, do not connect it to this computer.`,
  },
  {
    slug: 'strange-mail-or-link',
    title: 'I got a strange mail or pressed a link',
    summary: 'How to tell a false mail from a real one, and what to do if you typed your password.',
    body: `Do not answer, and do not press anything in it.

**Signs of a false mail:** it threatens, it is in a hurry, the address of the sender is odd, the link leads somewhere else than it says.

## You pressed the link

If you only looked, close the page. If a file came with it, do not open it: scan it in [Antivirus](/antivirus).

## You typed a password

1. Type the address of the real site yourself, and change the password there.
2. Change it everywhere else where you use the same one.
3. Switch on [two steps](/help/two-step-sign-in).

## You typed a card number

Call your bank now, with the number on the back of the card.`,
  },
  {
    slug: 'is-this-real',
    title: 'Is this message real?',
    summary: 'Check a message, a link, an email or a picture for signs of a scam, and what the answer means.',
    body: `Open [Scam check](/scam-check) and paste the message, or choose a picture or the email's file. On a phone you can also **share** a message with the installed app.

## What the answer means

- **Very likely a scam:** don't answer, don't tap anything in it, and don't pay. Below the answer you see why.
- **Suspicious:** ask the sender in a way that you already know, such as the number on your card.
- **Nothing suspicious found:** we know no sign of a scam in it. That's no promise that it is real.

## What we look at

1. **Links:** who really receives your tap, and whether the address imitates a known name.
2. **Words:** what the message wants from you, such as a code, a payment or a secret.
3. **Emails:** whether the sender's domain confirms the email. Use the email's file: pasted text loses the proof.
4. **Pictures:** QR codes, and the text where reading text is installed.
5. **Numbers and accounts:** whether they fit what the message says.

We never open a link, because the sender would learn of it. We don't keep what you send. Turn on **Keep the answer** to find it later.

## If you did something already

Choose what you did under **What to do**: the advice changes. If you gave card or bank details, call your bank first.`,
  },
  {
    slug: 'talk-to-a-person',
    title: 'How to talk to a person',
    summary: 'The chat, what answers by itself, and what happens outside the hours.',
    body: `Write in [the chat](/chat). What answers at once is marked **Automatic reply**: nobody wrote it. A person reads every message.

Press **Talk to a person** to stop the automatic replies and to stand before the others.

Outside the hours of support the chat says when we are back. You get a mail when we have answered.

From the page of an alert, a scan or a rule you can share that one thing. Support sees what you share, and nothing else of your files.`,
  },
  {
    slug: 'what-alerts-mean',
    title: 'What an alert means',
    summary: 'Severity, what was done about it already, and when you have to do something.',
    body: `An alert says that something happened that may be dangerous: many wrong passwords, a sign-in from a new place, an infected file.

- **Critical** and **high:** read it now, and do what it says.
- **Medium** and **low:** look at it when you have time.
- **Neutralized:** it was stopped already.

If it says that somebody signed in and it was not you, press **That was not me**: the session ends at once. Then change your password.`,
  },
];
