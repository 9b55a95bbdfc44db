import type { ArticleWritten } from '@palisade/contract/help';

/** The articles that every installation begins with. Administrators change them as they like. */
export const FIRST_ARTICLES: readonly Omit<ArticleWritten, 'is_published'>[] = [
  {
    slug: 'somebody-called-me',
    title: 'Someone called me about my computer',
    summary: 'Someone on the phone wants a card number, a code, or your screen? Hang up. See what to do if you gave it.',
    body: `**Hang up now.** We never call first. Microsoft, your bank, and the police don’t call to ask for passwords, codes, or money.

## What they say

- “Your computer sends viruses”, “your account was hacked”, “we saw a payment”.
- They want you to install a program, open a page, read out a code, or buy gift cards.
- They rush you and want you to stay on the line.

## If you gave them something

1. **A card number or bank access:** Call your bank first. Use the number on the back of your card.
2. **Access to your computer:** Take it off the internet. Unplug the cable or turn off Wi-Fi.
3. **A password:** Change it from another device, everywhere you use it.
4. **A session code from us:** Open [Remote Access](/remote) and press **End session** or **Cancel**.
5. Tell us what happened in [the chat](/chat). You’re not alone: this happens to many people.

Don’t call back a number they gave you.`,
  },
  {
    slug: 'i-paid',
    title: 'I paid a scammer',
    summary: 'Call your bank at once: some payments can be stopped. What to do by how you paid, and what to keep.',
    body: `**Call your bank now.** Use the number on the back of your card. In the first hours many payments can still be stopped.

## By how you paid

1. **A bank transfer:** Say “I was deceived, please recall the transfer”. Ask them to tell the other bank.
2. **A card:** Have it blocked, and ask for your money back (a chargeback). Ask for a new card.
3. **PayPal or another app:** Report the payment in the app, and call the bank or card behind it.
4. **Gift cards:** Call the shop’s company with the card and the receipt. Unused money can be frozen.
5. **Crypto or cash by post:** Tell the exchange, or the delivery company, before it arrives.

## Then

1. Stop writing to them. Pay nothing more, not even a “fee to get it back”: that is the same scam again.
2. Keep messages, numbers, account numbers, and receipts. Take pictures of the screen.
3. Report it to the police. Your bank may ask for the report.
4. Did they see your screen, or did you type a password? Read [Someone called me about my computer](/help/somebody-called-me).
5. Tell someone you trust, or us in [the chat](/chat). This happens to careful people too.`,
  },
  {
    slug: 'warning-with-a-number',
    title: 'A warning on my screen tells me to call a number',
    summary: 'Real warnings don’t show phone numbers. Close the page and check your computer.',
    body: `A page that tells you to call a number is a scam. **A web page can’t tell whether your computer is infected.**

1. Don’t call, and don’t press anything on the page.
2. Close the window. If it won’t close, hold **Escape** for a few seconds or restart the computer.
3. If the browser offers to reopen your pages, say no.
4. If a file downloaded, don’t open it. Scan it in [Antivirus](/antivirus).

Did you already call? Read [Someone called me about my computer](/help/somebody-called-me).`,
  },
  {
    slug: 'a-file-is-infected',
    title: 'A file is infected: what now',
    summary: 'An infected file contains something harmful. Delete the file, and see what to do if you opened it.',
    body: `**Infected** means our scanner found something harmful in the file. The scan history shows its name. An infected file can do harm once you open it.

## You didn’t open it

Delete the infected file from your computer and empty the trash. Then press **I deleted it** in [Antivirus](/antivirus).

## You opened it

1. Take the computer off the internet.
2. From another device, change every password you typed since then. Start with your email and bank.
3. Write to us in [the chat](/chat) and share the scan.

## You think it’s a mistake

Open the file’s entry in [Antivirus](/antivirus) and press **Report as false alarm**. Our team will check it. The file stays in quarantine until you delete it.`,
  },
  {
    slug: 'what-pending-means',
    title: 'What Pending means',
    summary: 'Pending doesn’t mean clean. The scan history shows the reason.',
    body: `**Pending** means the check isn’t complete. We say **Clean** only after checking the whole file.

The entry shows the reason:

- **The file is waiting,** or the scanner is starting. We’ll scan it shortly.
- **The file is encrypted.** Open the entry and enter the file’s password.
- **The file is too large or has too many layers.** Unpack it and scan the parts.
- **The file is damaged, or we can’t read its format.**

Don’t open a pending file from someone you don’t know.`,
  },
  {
    slug: 'i-cannot-sign-in',
    title: 'I can’t sign in',
    summary: 'Get help with a forgotten password, a two-factor code, or a temporary lock.',
    body: `## I forgot my password or username

On the sign-in screen, press **Forgot Password?** or **Forgot Username?** and follow the email. Check your spam folder too.

## My code doesn’t work

- Authenticator codes need the right time. Set your phone’s clock to automatic.
- Or use a **recovery code**. Each code works once.
- A passkey works only at the address where you created it.

## It says I have to wait

We pause sign-in after several wrong passwords to stop guessing. Wait, or reset your password.

## Nothing helps

Call support and have your account’s email address ready. Support never asks for your password.`,
  },
  {
    slug: 'scan-a-file',
    title: 'How to scan a file',
    summary: 'Choose files or drop them on the page. Learn what each result means.',
    body: `1. Go to [Antivirus](/antivirus).
2. Press **Choose files**, or drop files on the page. You can add several at once.
3. Wait for the result: **Clean**, **Infected**, or **Pending**.

We unpack archives and check everything in them. We don’t keep clean files. We keep infected files in quarantine, so you can restore one if it was a mistake.

See also [What Pending means](/help/what-pending-means) and [A file is infected: what now](/help/a-file-is-infected).`,
  },
  {
    slug: 'firewall-rules',
    title: 'How firewall rules work',
    summary: 'Learn what a rule says, which rule wins, and how to test a connection.',
    body: `A rule **allows** or **blocks** connections. **Inbound** connections come to you. **Outbound** connections come from you. A rule can name addresses and ports.

- An enabled block wins over every allow.
- The order of rules doesn’t matter.
- A dimmed rule is off.
- \`*\` means everything.

To test a connection, use **Would this pass?** in [Firewall](/firewall). It shows which rule decides.`,
  },
  {
    slug: 'remote-support-safely',
    title: 'Remote support, safely',
    summary: 'How a technician helps on your screen, and how you know it’s really us.',
    body: `A technician can help on your screen after **you** ask.

1. Call us, or write in [the chat](/chat). We never call first.
2. Go to [Remote Access](/remote) and press **New Session**, or use the code from the chat.
3. Share the code only with the technician you contacted. It lasts 30 minutes.
4. You’ll see who wants to join. They see nothing until you approve.
5. Press **End session** at any time to stop.

A technician never asks for your password or card number. They never ask you to open your bank’s page.

Learn what they can see and do: [When a technician is on your computer](/help/technician-on-my-computer).`,
  },
  {
    slug: 'technician-on-my-computer',
    title: 'When a technician is on your computer',
    summary: 'What a technician can see and do, and how you stop them at once.',
    body: `Think of a visitor in your home. They see the room you show them, touch what you allow, and leave when you ask.

## Stop at once

- Press the red **End session** at the top of any page. Screen sharing stops immediately.
- Or press **Alt** + **Shift** + **S**.
- To take back your mouse, **move your own mouse**. You can also press **Stop control** or **Alt** + **Shift** + **C**.
- If nothing responds, close the browser or turn off the computer. This stops everything and breaks nothing.

You don’t need a reason, and you don’t have to be polite.

## What they can see

- They see nothing until you press **Approve** and choose what to share.
- They see only the screen, window, or page you chose. A small preview shows you the same picture.
- They can point and draw on the picture. **They can’t press anything with it.**
- Before you open your bank or a letter, press **Pause**. They see black until you press **Show again**.

## What they can do after you say yes

- **See or control a computer:** They use its mouse and keyboard. The computer needs our agent, which you add in [Devices](/devices).
- **Share the clipboard:** Either of you can paste what the other copies.
- **Send files:** We scan each file first, and you can refuse it.
- **Record:** You see when recording runs, and you get a copy. Recordings have no voices.
- **Talk:** You turn on your own voice. No one else can turn on your microphone.

If you do nothing, the answer is no. Everything ends when you close the page.

## Who never calls first

**We never call first.** Microsoft, your bank, and the police don’t either. A caller who wants access to your computer is a scammer, however friendly. Hang up and read [Someone called me about my computer](/help/somebody-called-me).

- We never ask for a password, a card number, or a sign-in code.
- We never ask you to buy gift cards, send money, or open your bank’s page.
- Ask for their name and compare it with the name on your screen. If it’s different, press **Decline**.

## Afterwards

[Remote Access](/remote) shows what happened and what changed on your computer. If something is wrong, press **Report this session**. It ends at once, and administrators are told.`,
  },
  {
    slug: 'slow-computer',
    title: 'My computer is slow',
    summary: 'Try these steps first, and see what to tell us if it stays slow.',
    body: `1. Restart the computer. Closing the lid isn’t enough.
2. Close programs and browser tabs you don’t use.
3. Check the free disk space. Keep at least a tenth free.
4. Scan any program you suspect in [Antivirus](/antivirus).

Still slow? Write to us in [the chat](/chat). Tell us when it started, in which program, and whether it’s slow offline too.`,
  },
  {
    slug: 'plan-and-payment',
    title: 'My plan and what it costs',
    summary: 'See your plan, request another one, and ask about a payment.',
    body: `The [Dashboard](/dashboard) shows your plan, its price, and its end date.

To change it, go to [Subscriptions](/subscription-manager), choose a plan, and press **Request this plan**. An administrator will answer.

If an amount or a date is wrong, write to us in [the chat](/chat). **Never write a card number in the chat.** We don’t need it.`,
  },
  {
    slug: 'two-step-sign-in',
    title: 'Turn on two-factor sign-in',
    summary: 'A stolen password isn’t enough with two-factor. Add a passkey or an authenticator app.',
    body: `With two-factor sign-in, a stolen password isn’t enough to get in.

1. Open the menu with your name, then **Security Preferences**.
2. Choose a **passkey** or an **authenticator app** and follow the steps.
3. Keep your **recovery codes** on paper, away from the computer. Each code works once.

A passkey uses your fingerprint, your face, or your device’s PIN. A fake page can’t steal it.`,
  },
  {
    slug: 'ransom-note',
    title: 'My files are locked and someone wants money',
    summary: 'Don’t pay. Take the computer off the internet, leave it on, and call us from a phone.',
    body: `**Don’t pay.** Paying doesn’t guarantee that you get your files back.

1. Take the computer off the internet now. Unplug the cable or turn off Wi-Fi.
2. Leave the computer on. Its memory may still hold the key.
3. Unplug other connected disks.
4. Don’t delete or install anything.
5. Call support from a phone and read us the words on the screen.
6. Report it to the police.

Don’t connect a backup to this computer.`,
  },
  {
    slug: 'strange-mail-or-link',
    title: 'I got a strange email or pressed a link',
    summary: 'What to do now if you pressed a link or typed something, and how to spot a fake email.',
    body: `**You typed a card number or your bank’s password? Call your bank now.** Use the number on the back of your card.

## You typed another password

1. Type the real site’s address yourself and change your password there.
2. Change it everywhere else you use it.
3. [Turn on two-factor sign-in](/help/two-step-sign-in).

## You pressed the link

If you only looked, close the page. If a file downloaded, don’t open it. Scan it in [Antivirus](/antivirus).

## You did nothing yet

Don’t reply, and don’t press anything in it. Not sure? Paste it into [Scam check](/scam-check).

**Signs of a fake email:** It threatens or rushes you. The sender’s address looks odd. The link leads somewhere else.`,
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
3. **Emails:** whether the sender's domain confirms the email, if you allow the question. Use the email's file: pasted text loses the proof. Files in it are read too.
4. **Pictures:** QR codes, and the text where reading text is installed.
5. **Numbers and accounts:** whether they fit what the message says.

We never open a link, because the sender would learn of it. We don't keep what you send, or the result. Turn on **Keep the result in my list** to find it later.

## If you did something already

Choose what you did under **What to do**: the advice changes. If you gave card or bank details, call your bank first.`,
  },
  {
    slug: 'talk-to-a-person',
    title: 'How to talk to a person',
    summary: 'Learn how the chat works, and what happens outside support hours.',
    body: `Write in [the chat](/chat). You’ll get an instant tip marked **Automatic reply**. A person reads every message.

Press **Talk to a person** to move ahead in the queue and stop automatic replies.

Outside support hours, the chat shows when we’re back. We’ll email you when we reply.

You can share one alert, scan, or rule from its page. Support sees only what you share.`,
  },
  {
    slug: 'what-alerts-mean',
    title: 'What an alert means',
    summary: 'Learn what each severity means and when you need to act.',
    body: `An alert reports something that may be dangerous. Examples are wrong passwords, a sign-in from a new place, or an infected file.

- **Critical** and **high:** Read it now and follow its advice.
- **Medium** and **low:** Check it when you have time.
- **Neutralized:** It was already stopped.

If you don’t recognize a sign-in, press **It wasn’t me**. We’ll end that session at once. Then change your password.`,
  },
  {
    slug: 'someone-signed-in',
    title: 'Someone signed in as me',
    summary: 'Sign out everywhere else, change your password, and turn on two-factor sign-in.',
    body: `Do these steps on a device that you trust.

1. [Sign out everywhere else](/dashboard?open=security&tab=sessions). The other person is out at once.
2. [Change your password](/dashboard?open=security&tab=password). Use one that you use nowhere else.
3. [Turn on two-factor sign-in](/dashboard?open=security&tab=two-factor). A stolen password isn’t enough then.
4. Look at [your account’s activity](/dashboard?open=security&tab=activity) for changes that you didn’t make.
5. Change the password of your email account, too. It can reset all others.

## You can’t sign in any more

Read [I can’t sign in](/help/i-cannot-sign-in), or call support. Support never asks for your password.

## What the other person saw

Tell us in [the chat](/chat) when it happened.`,
  },
  {
    slug: 'lost-phone',
    title: 'I lost my phone',
    summary: 'Lock it, sign it out, and get back in without its codes.',
    body: `1. **Lock the phone** from another device: [Find My](https://www.icloud.com/find) for an iPhone, [Find Hub](https://www.google.com/android/find) for Android.
2. Call your phone company and have the SIM card blocked.
3. [Sign out everywhere else](/dashboard?open=security&tab=sessions), so that the phone can’t open your account.
4. [Change your password](/dashboard?open=security&tab=password).

## Your sign-in codes were on it

Sign in with one of your **recovery codes**, or with a passkey on another device. Then open [two-factor sign-in](/dashboard?open=security&tab=two-factor), remove the lost phone’s app, and add a new one.

No recovery codes? Call support and have your account’s email address ready.

## It was a protected device

Remove it in [Devices](/devices), so that it no longer has access.

Did your bank’s app run on it? Call your bank first.`,
  },
  {
    slug: 'block-dangerous-websites',
    title: 'Block dangerous websites on a phone or TV',
    summary: 'Connect a device to web protection in two or three steps, and see why a website didn’t open.',
    body: `Web protection stops known dangerous websites before they open. It works on phones, tablets, computers, routers, and browsers. You don’t install an app.

1. Open [Web protection](/web-protection) and press **Add a device**.
2. Choose the kind of device, and follow its steps.
3. Open any website on the device. The page then shows that it’s protected.

## A website doesn’t open

Look under **Refused in the last 7 days**. **Why?** shows the reason. **Allow** opens it for your devices. Dangerous websites stay blocked.

## What we see

We see the names of websites, never their pages or what you type. We keep the names that were refused for 7 days, and count the others.

## What it can’t do

A device is protected only while it asks our server. Another network setting, a VPN, or a browser with its own setting can get around it. The page says so when a device stops asking.`,
  },
  {
    slug: 'rules-for-a-child',
    title: 'Set rules for a child’s device',
    summary: 'Bedtime, games, and videos on a child’s devices, and what each of you sees.',
    body: `1. Open [Household](/household) and press **Add a person**. Choose their age.
2. Add their device, or choose one that you have already.
3. Read the rules. **Edit rules** changes each of them, and shows whether a website opens at a day and time.

## They ask “May I?”

Each person has a page of their own, which also works as an app on their phone. There they see what was refused, and can ask for it. You answer on the dashboard or on Household: for one hour, always, or no.

**Pause** closes every website for a while. Their page shows until when.

## No secret watching

- The person sees on their page what you see.
- From 16, you see counts, never websites.
- You can invite a second adult. Both of you have the same rights.

## What can get around the rules

Mobile data, a VPN, or a browser’s own setting. Household says so when a device stops asking. Talk about it: rules that a child understands hold better.`,
  },
];
