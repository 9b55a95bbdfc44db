/*
  Pages and mails that ask for secrets in someone else's name.
*/

rule Phish_Page_Telegram_Exfil
{
  meta:
    description = "A sign-in page that sends what you type to a stranger's chat account."
    severity = "critical"
    reference = "https://attack.mitre.org/techniques/T1567/"
    verdict = "infected"
    family = "phishing"
    threat = "Phish.HTML.TelegramExfil"
  strings:
    $password = /<input.{0,201}(type=["']?password|name=["']?(pass|passwd|password|pwd|cvv|otp|pin)["' >])/s nocase
    $bot_url = /api\.telegram\.org\/bot[0-9]{8,10}:[A-Za-z0-9_-]{35}/
    $bot_join = /api\.telegram\.org\/bot["'`][ \t]{0,2}\+|api\.telegram\.org\/bot\$\{/
    $send = /sendMessage|sendDocument/
  condition:
    filesize < 8MB and $password and $send and ($bot_url or $bot_join)
}

rule Phish_Page_Form_Collector
{
  meta:
    description = "A copy of a well-known sign-in page that sends the password to a form-collecting service."
    severity = "critical"
    reference = "https://attack.mitre.org/techniques/T1566/"
    verdict = "infected"
    family = "phishing"
    threat = "Phish.HTML.FormCollector"
  strings:
    $password = /<input.{0,201}type=["']?password/s nocase
    $service = /(action=|fetch\(|url:[ \t]?|open\(["']POST["'],[ \t]?)["'`]https?:\/\/(formspree\.io\/|submit-form\.com\/|api\.web3forms\.com\/|formsubmit\.co\/|getform\.io\/|formcarry\.com\/|usebasin\.com\/|discord(app)?\.com\/api\/webhooks\/|hooks\.zapier\.com\/|[a-z0-9-]{1,60}\.(000webhostapp|weebly|workers|ngrok-free|trycloudflare)\.(com|dev|app)\/)/ nocase
    $brand = /<title>[^<]{0,60}(Microsoft|Office ?365|Outlook|OneDrive|SharePoint|Google|Gmail|PayPal|Apple ID|iCloud|Amazon|Netflix|Facebook|Instagram|LinkedIn|DHL|FedEx|USPS|Adobe|DocuSign|Dropbox|WeTransfer|Webmail|cPanel|Roundcube|Bank|Sign in to your account)/ nocase
  condition:
    filesize < 8MB and all of them
}

rule Phish_Page_Microsoft_Clone
{
  meta:
    description = "A copy of the Microsoft sign-in page that sends the password elsewhere."
    severity = "critical"
    reference = "https://attack.mitre.org/techniques/T1566/002/"
    verdict = "infected"
    family = "phishing"
    threat = "Phish.HTML.MicrosoftClone"
  strings:
    $asset = /(aadcdn\.(msauth|msftauth)\.net|logincdn\.msauth\.net|logincdn\.msftauth\.net)\/.{1,202}(logo|ellipsis|background|arrow|favicon|converged|signin)/s nocase
    $password = /<input.{0,300}(type=["']?password|name=["']?passwd)/s nocase
    $send = /(<form[^>]{0,200}action=["'][^"'>]{0,200}\.php["'?]|\$\.(post|ajax)\([^\n]{0,40}atob\(|action=["']?\+?[ \t]{0,2}atob\()/ nocase
    $send_script = /(url|fetch|open|ajax|post)[^\n]{0,40}["'`]https?:\/\/[^"'`\n]{3,200}\.php["'`?]/ nocase
  condition:
    filesize < 8MB and $asset and $password and any of ($send*)
}

rule Phish_Page_Brand_Php_Form
{
  meta:
    description = "A page that looks like the sign-in of a known company and sends the password to a local script."
    severity = "medium"
    reference = "https://attack.mitre.org/techniques/T1566/"
    verdict = "suspicious"
    family = "phishing"
    threat = "Phish.HTML.BrandForm"
  strings:
    $title = /<title>[^<]{0,40}(PayPal|Netflix|Apple ID|iCloud|Amazon Sign|Sign in to your account|Outlook Web|DHL|Wells Fargo|Chase|HSBC|Santander|Barclays|Office ?365|DocuSign|WeTransfer|Steam Community|Coinbase|Binance|MetaMask)/ nocase
    $password = /<input.{0,300}type=["']?password/s nocase
    $form = /<form.{0,201}action=["']?(https?:\/\/[^"'>]{3,120}\/)?[a-z0-9_.-]{1,40}\.php["' >?]/s nocase
  condition:
    filesize < 4MB and all of them
}

rule Phish_Page_Wallet_Phrase
{
  meta:
    description = "A page that asks for the secret words of a crypto wallet and sends them to a stranger."
    severity = "critical"
    reference = "https://attack.mitre.org/techniques/T1566/"
    verdict = "infected"
    family = "phishing"
    threat = "Phish.HTML.WalletPhrase"
  strings:
    $ask = /(enter|type|paste|input|import)[^<\n]{0,30}(12|24|12 ?[-\/] ?24|recovery|seed|secret|mnemonic)[^<\n]{0,20}(phrase|words?)/ nocase
    $field = /<(textarea|input).{0,201}(phrase|seed|mnemonic|recovery|keystore|private.?key)/s nocase
    $brand = /(MetaMask|Trust ?Wallet|Ledger|Trezor|WalletConnect|Phantom|Coinbase Wallet|Exodus|Blockchain)/
    $send = /(api\.telegram\.org|api\.emailjs\.com|emailjs\.send|formspree\.io|formsubmit\.co|submit-form\.com|web3forms\.com|discord(app)?\.com\/api\/webhooks|<form[^>]{0,200}action=["'][^"'>]{0,120}\.php)/ nocase
  condition:
    filesize < 4MB and all of them
}

rule Phish_Page_Support_Scam
{
  meta:
    description = "A fake virus warning that locks the browser and asks you to call a number."
    severity = "high"
    reference = "https://www.ic3.gov/PSA/2018/PSA180328"
    verdict = "infected"
    family = "phishing"
    threat = "Scam.HTML.TechSupport"
  strings:
    $claim = /(Windows|Microsoft).{0,201}(Defender|Security|Firewall|Support).{0,201}(alert|warning|center|locked|blocked|infected|error)/s nocase
    $call = /(call|contact|dial|support|toll.?free|help ?line|number)[^\n]{0,80}[ .(>:-]{1,3}(1[ .-])?\(?8(00|33|44|55|66|77|88)[ .)-]{1,3}[0-9]{3}[ .-][0-9]{4}/ nocase
    $tel = /href=["']tel:\+?[0-9-]{8,16}/ nocase
    $virus = /(trojan|spyware|virus|malware|zeus|pornographic|do not (shut|restart|close|turn))/ nocase
    $lock1 = /request(Full[sS]creen|PointerLock)|keyboard\.lock\(/
    $lock2 = /onbeforeunload/
    $lock3 = /<audio[^>]{0,120}autoplay|\.play\(\)/
    $lock4 = /(oncontextmenu|contextmenu|onkeydown|keydown)/
    $lock5 = /history\.(pushState|forward)\(/
  condition:
    filesize < 4MB and uint8(0) <= 0x3c and $claim and ($call or $tel) and $virus and 2 of ($lock*)
}

rule Phish_Kit_Mailer
{
  meta:
    description = "The server part of a fake sign-in page: it mails stolen passwords to a stranger."
    severity = "critical"
    reference = "https://attack.mitre.org/techniques/T1566/"
    verdict = "infected"
    family = "phishing"
    threat = "Phish.PHP.KitMailer"
  strings:
    $php = "<?php" nocase
    $password = /\$_(POST|REQUEST)\[["'](pass|passwd|password|pwd|epass|login_password|psw|cvv|ssn|otp|card)[a-z0-9_]{0,12}["']\]/ nocase
    $who = /(\$_SERVER\[["'](REMOTE_ADDR|HTTP_USER_AGENT)["']\]|getenv\(["']REMOTE_ADDR["']\))/
    $send = /([^a-z_]mail[ \t]{0,2}\([ \t]{0,2}\$|api\.telegram\.org\/bot|fwrite\(|file_put_contents\()/ nocase
    $kit1 = /[=+~*#-]{3}[ \t|\[]{0,4}(ReZulT|Result|Fullz|Victim Info|Login Info|Login Details|Bank Info|Bank Login|Card Info|Credit Card|Office365|Webmail)/ nocase
    $kit2 = /(Created|Coded|Modified|Spam+ed|Edited)[ \t]{1,2}(by|in|for)[ \t]{1,4}[^\n]{1,60}(\\n|["'])/ nocase
    $kit3 = /\$(resul[l]?t|message|msg|data|msgs)[ \t]{0,2}\.=[ \t]{0,2}["'][^"'\n]{0,20}(Password|Passwd|PIN|CVV|OTP|SSN)[^"'\n]{0,20}:/ nocase
    $kit4 = /\$(send|recipient|to|own|email_to|yourmail|resultbox)[ \t]{0,2}=[ \t]{0,2}["'][^"'\n]{3,60}@(gmail|yandex|yahoo|protonmail|outlook|hotmail|mail|zoho)\.(com|ru|me)["']/ nocase
    $kit5 = /header\([ \t]{0,2}["']Location:[ \t]{0,2}https?:\/\/[^"'\n]{0,40}(microsoft|office|live|google|paypal|apple|netflix|chase|wellsfargo|dhl|usps|amazon|facebook|linkedin|adobe|dropbox)/ nocase
  condition:
    filesize < 64KB and $php and $password and $who and $send and 3 of ($kit*)
}

rule Phish_Mail_Address_Mismatch
{
  meta:
    description = "A mail whose link shows a well-known address but leads to a bare internet number."
    severity = "high"
    reference = "https://attack.mitre.org/techniques/T1566/002/"
    verdict = "infected"
    family = "phishing"
    threat = "Phish.Mail.LinkMismatch"
  strings:
    $header = /^(Received|Return-Path|Delivered-To|Message-I[Dd]|MIME-Version|Mime-Version|Date|From|Subject|X-[A-Z][a-z]{2,12}(-[A-Za-z]{1,20}){0,4}): /
    $link = /<a[ \t\r\n][^>]{0,100}href=(3D)?["']?https?:\/\/([0-9]{1,3}\.){3}[0-9]{1,3}[:\/][^>]{0,300}>[ \t\r\n]{0,8}(<[^>]{1,80}>[ \t\r\n]{0,8}){0,3}https?:\/\/[a-z0-9.-]{0,40}(paypal|apple|icloud|microsoft|office|live|google|amazon|netflix|facebook|chase|wellsfargo|hsbc|dhl|fedex|ups|usps|bank)[a-z0-9-]{0,20}\.[a-z]{2,6}/ nocase
  condition:
    filesize < 8MB and $header and $link
}

rule Scam_Mail_Extortion
{
  meta:
    description = "A mail that claims to have filmed you and demands cryptocurrency; the claim is invented."
    severity = "medium"
    reference = "https://www.ic3.gov/PSA/2018/PSA180807"
    verdict = "infected"
    family = "phishing"
    threat = "Scam.Mail.Extortion"
  strings:
    $film1 = /(your|the) (web ?cam|camera)/ nocase
    $film2 = /(recorded|record|filmed|video of|footage)[^\n]{0,60}you/ nocase
    $threat1 = /(all|each of)( of)? your (contacts|friends|family|relatives|colleagues)/ nocase
    $threat2 = /send (the|this|that|your) (video|recording|footage|material)/ nocase
    $access = /(malware|trojan|spyware|keylogger|hacked|infected|full access|driver.based)/ nocase
    $pay1 = /(bitcoin|btc|litecoin|monero|cryptocurrency)[^\n]{0,20}(wallet|address)/ nocase
    $pay2 = /(24|48|50|72|two|2|three|3)[ -]?(hours|days)[^\n]{0,60}/ nocase
    $wallet = /[ \t\n\r:>](bc1q[a-z0-9]{38}|bc1p[a-z0-9]{58}|ltc1q[a-z0-9]{38})[ \t\r\n.,<]/
    $wallet_old = /(address|wallet|BTC|bitcoin)[^\n]{0,40}[\n\r :>]{1,6}[13][A-HJ-NP-Za-km-z1-9]{25,34}[ \t\r\n.,<]/ nocase
  condition:
    filesize < 1MB and any of ($film*) and any of ($threat*) and $access and any of ($pay*) and any of ($wallet*)
}
