[Console]::SetOut([Console]::Error)
$reader = [IO.StreamReader]::new([Console]::OpenStandardInput(), [Text.UTF8Encoding]::new($false))
$text = [Text.Encoding]::UTF8.GetString([Convert]::FromBase64String($reader.ReadLine()))
& ([scriptblock]::Create($text)) $reader
